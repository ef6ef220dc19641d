package import Accounts
package import ProviderKit

/// How an application serves apps of Immich.
package struct ImmichSettings: Sendable, Equatable {
    /// The version of the photo back end, which apps compare with their own.
    package struct Version: Sendable, Equatable {
        package var major, minor, patch: Int

        package init(major: Int, minor: Int, patch: Int) {
            (self.major, self.minor, self.patch) = (major, minor, patch)
        }

        /// Reads three numbers with points between them; `nil` for anything else.
        package init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            let isNumber = parts.allSatisfy { part in
                (1...6).contains(part.utf8.count) && part.utf8.allSatisfy(\.isASCIIDigit)
            }
            let numbers = parts.compactMap { Int($0) }
            guard isNumber, numbers.count == 3, parts.count == 3 else { return nil }
            self.init(major: numbers[0], minor: numbers[1], patch: numbers[2])
        }
    }

    /// The provider that the app's button opens: the name of a configured one, or `hosted`; `nil` for no button.
    package var provider: String?
    /// What the button calls the provider.
    package var providerName = ""
    /// Where a flow ends whose request names no redirect URI.
    package var redirectURI: String?
    /// `nil` if a proxy sends the calls below `/api/server` to the back end.
    package var version: Version?
    /// Whether the app offers to sign in with a password.
    package var offersPasswords = true
    package var loginPageMessage = ""
    /// The role of accounts that are administrators of the back end; `nil` if no account is one.
    package var administratorRole: String?
    /// How apps keep their sessions.
    package var renewal = Renewal.bearer(
        BearerLifetime(idle: .seconds(90 * 86400), lifetime: .seconds(400 * 86400)))
    /// Members of the answers about the server, besides those that Gatehouse determines.
    package var config: [String: JSONValue] = [:]
    package var features: [String: JSONValue] = [:]

    package init() {}

    /// The members of `config` that apps require, with the values that they have unless they are configured.
    package static let defaultConfig: [String: JSONValue] = [
        "trashDays": .integer(30), "publicUsers": .bool(false), "mapDarkStyleUrl": .string(""),
        "mapLightStyleUrl": .string(""), "maintenanceMode": .bool(false),
    ]

    /// The features that apps require, which are off unless they are configured.
    package static let backendFeatures = [
        "oauthAutoLaunch", "trash", "search", "smartSearch", "facialRecognition", "duplicateDetection", "importFaces",
        "map", "reverseGeocoding", "sidecar", "ocr",
    ]

    /// The names of members that Gatehouse determines, and that the configuration therefore cannot.
    package static let ownConfig: Set<String> = [
        "loginPageMessage", "oauthButtonText", "externalDomain", "isInitialized", "isOnboarded", "userDeleteDelay",
    ]
    package static let ownFeatures: Set<String> = ["oauth", "passwordLogin", "configFile", "email"]

    /// Whether an account is an administrator of the back end, which nothing but its roles decides.
    func isAdministrator(_ user: User) -> Bool { administratorRole.map { user.access.has(role: $0) } ?? false }

    /// The words on the app's button; empty if there is no button.
    var buttonText: String { provider == nil ? "" : "Login with \(providerName)" }
}
