internal import Accounts
internal import Console
internal import Foundation
internal import ProviderKit

extension ConsolePlaces {
    /// Who may use the console, and which programs may call the admin API.
    static let access: [ConsolePlace] = [admins, serviceKeys.place]

    /// The administrators, with the form that grants a role to the account that `?uid=` names.
    private static let admins = ConsolePlace("/admins") { request in
        let typed = try request.query["uid"]
        var more: [String: JSONValue] = ["typed": ["exact": .string(typed ?? "")]]
        if let uid = typed.flatMap(UUID.init(uuidString:))?.text {
            more["uid"] = .string(uid)
            more["grant"] = request.form("/admins/{uid}", at: "\(request.base)/admins/\(uid)")
        } else if typed != nil {
            more["isNoUid"] = true
        }
        return try await adminList.page(for: request, in: "admins", with: more)
    }

    private static let adminList = ConsoleList(
        path: "/admins", name: "admins",
        columns: [
            .init("Account") { item, request in
                // Administrators are accounts of one application, which other applications have no pages about.
                request.home.id == request.application.id ? request.accountLink(item["uid"]) : item["uid"]
            },
            .words("Role", "role", of: "role"),
            .init("For") { item, request in
                .string(item["all"].bool == true ? "All applications" : request.application.name)
            },
            .init("Since", "createdAt"),
        ],
        rowActs: [.init("/admins/{uid}/revoke", "uid", by: "uid") { $0["all"].bool == false }],
        acts: ["/admins/invitations"])

    private static let serviceKeys = ConsoleList(
        path: "/service-keys", name: "serviceKeys",
        columns: [
            .init("Name", "name"), .init("Id", "id"),
            .init("State") { item, _ in .string(ConsoleTemplates.words(for: state(of: item), of: "serviceKey")) },
            .init("Scopes", "scopes"),
            .init("Allowed from") { item, _ in item["allow"].array?.isEmpty == false ? item["allow"] : "anywhere" },
            .init("Created", "createdAt"), .init("Expires", "expiresAt"), .init("Last used", "lastUsedAt"),
        ],
        rowActs: [
            .init("/service-keys/{key}/rotate", "key", by: "id") { state(of: $0) == "valid" },
            .init("/service-keys/{key}/revoke", "key", by: "id") { state(of: $0) == "valid" },
        ],
        forms: ["/service-keys"])

    /// Whether a service key counts.
    @Sendable private static func state(of key: JSONValue) -> String {
        guard key["revokedAt"].isNull else { return "revoked" }
        return (key["expiresAt"].time ?? .distantPast) > Date() ? "valid" : "expired"
    }
}
