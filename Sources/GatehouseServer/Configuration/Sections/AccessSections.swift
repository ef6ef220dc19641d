internal import Accounts
internal import ProviderKit

/// The bounds of the claims of accounts in the file.
struct ClaimsSection: SettingsSection {
    let largest: Int

    static let settings = [
        Setting(
            "largest", .integer(2...AccessRules.highestClaimsLimit), default: "1000",
            help: """
                The largest size of an account's claims as JSON, in bytes. Clients send them with each request, and many \
                proxies refuse requests whose header fields exceed 8 KiB in all.
                """)
    ]
}

extension Form {
    /// The name of a role.
    static let role = Form.text("the name of a role: 1 to 32 of a-z, 0-9, _ and -, the first a letter") {
        AccessRules.isRole($0) ? $0 : nil
    }
}
