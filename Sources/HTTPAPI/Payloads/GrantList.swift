internal import Accounts
internal import OpenID
internal import ProviderKit

/// What an account has given OpenID clients.
struct GrantList: ResponsePayload {
    struct Entry: ResponsePayload {
        let grant: ClientGrant
        let issuer: Issuer

        static let fields = ResponseFields<Self>("Grant") {
            Field("clientId", \.grant.clientID)
            // Clients come from the configuration only, so "kind" is always "static" and "device" null; both are
            // reserved.
            Field("kind", as: .enumeration(["static", "registered", "instance"])) { _ in "static" }
            Field("name") { $0.issuer.name(ofClient: $0.grant.clientID) ?? $0.grant.clientID }
            Field("uri", orNull: \.uri)
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
