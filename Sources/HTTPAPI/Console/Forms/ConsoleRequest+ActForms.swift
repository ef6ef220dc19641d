internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

extension ConsoleRequest {
    /// The form on the page of an act, with what it shows at first and without what the person may not fill in.
    func form(of endpoint: Endpoint, for target: JSONValue) async throws -> JSONValue {
        let path = endpoint.consolePath
        return switch endpoint.actName {
        case "accounts.setAccess":
            form(path, preset: try Self.access(of: target), remembered: ["roles", "claims"])
        case "accounts.endSessions": form(path, preset: try linkedSession)
        case "accounts.recover": form(path, omitted: may(.recoverAccounts) ? [] : ["confirm"])
        case "invitations.send":
            form(path, omitted: may(.accessOfAccounts) ? ["reason.note"] : ["reason.note", "roles", "claims"])
        case "serviceKeys.rotate": form(path, preset: try await secretMark, hidden: ["seen"])
        default: form(path)
        }
    }

    /// Binds the form to the secret that the key has now, so that sending it again does not end the next secret.
    private var secretMark: [String: String] {
        get async throws {
            let mark = try await console.administration.keys.mark(of: self["key"], in: application)
            return mark.map { ["seen": $0] } ?? [:]
        }
    }

    /// The session that the link to the page names; ids are all that a link may fill in.
    private var linkedSession: [String: String] {
        get throws {
            let id = try context.request.query["sessions"].flatMap { UUID(uuidString: $0) }
            return id.map { ["sessions": $0.text] } ?? [:]
        }
    }

    /// The roles and claims that an account has, which the form replaces.
    private static func access(of account: JSONValue) throws -> [String: String] {
        let roles = account["roles"].array?.compactMap(\.string) ?? []
        return ["roles": roles.joined(separator: "\n"), "claims": try account["claims"].asTypedJSON]
    }

    /// The identity that an act removes, masked.
    func identity(of endpoint: Endpoint) async throws -> JSONValue {
        guard endpoint.path.contains("/identities/{id}/") else { return .null }
        let identities = try await read("/accounts/{uid}/identities", asking: [("limit", "200")])
        return identities["items"].array?.first { $0["id"].string == self["id"] } ?? .null
    }
}

extension JSONValue {
    /// The value as JSON on several lines.
    ///
    /// Invisible characters, such as those that change the direction of text, are escaped, so that a form shows them and
    /// sends them back.
    var asTypedJSON: String {
        get throws {
            try indentedText.unicodeScalars.map { scalar in
                guard scalar.properties.generalCategory == .format, scalar.value <= 0xFFFF else {
                    return String(scalar)
                }
                let digits = String(scalar.value, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }
}
