internal import Accounts
internal import OpenID
internal import ProviderKit

/// Shows and takes back what an account has given OpenID clients.
struct GrantOperations: Sendable {
    let grants: ClientGrants

    var list: Operation<Void, GrantList> {
        Operation("grant.list", access: .bearer, limits: .none, errors: [.notFound]) { context, _ in
            let issuer = try context.issuer
            let grants = try await grants.list(of: context.principal.uid, at: issuer)
            return GrantList(grants: grants.map { GrantList.Entry(grant: $0, issuer: issuer) })
        }
    }

    /// The input is the client's id.
    var revoke: Operation<String, Void> {
        Operation("grant.revoke", access: .bearer, limits: .general, errors: [.grantNotFound, .notFound]) {
            context, client in
            guard try await grants.revoke(client, of: context.principal.uid, at: context.issuer) else {
                throw APIError(.grantNotFound, "The account has given the client nothing")
            }
        }
    }
}

struct GrantList: ResponsePayload {
    struct Entry: ResponsePayload {
        let grant: ClientGrant
        let issuer: Issuer

        static let fields = ResponseFields<Self>("Grant") {
            Field("clientId", \.grant.clientID)
            Field("kind", as: .enumeration(["static", "registered", "instance"])) { _ in "static" }
            Field("name") { $0.issuer.name(ofClient: $0.grant.clientID) ?? $0.grant.clientID }
            Field("uri", orNull: \.uri)
            // The device of an instance.
            Field("device", orNull: \.device)
            Field("scopes", \.scopes)
            Field("resources", \.resources)
            Field("grantedAt", \.grant.grantedAt)
            Field("lastUsedAt", orNull: \.grant.lastUsedAt)
            Field("lastAddress", orNull: \.grant.lastAddress)
        }

        private var uri: String? { issuer.settings.clients[grant.clientID]?.uri }
        private var device: String? { nil }
        private var scopes: [String] { grant.scopes ?? [] }
        private var resources: [String] { grant.resources ?? [] }
    }

    let grants: [Entry]

    static let fields = ResponseFields<Self>("GrantList") { Field("grants", \.grants) }
}
