internal import Accounts
internal import OpenID
internal import Pages
internal import ProviderKit

/// What an account has given OpenID clients.
struct GrantList: ResponsePayload {
    struct Entry: ResponsePayload {
        let grant: ClientGrant
        let issuer: Issuer

        static let fields = ResponseFields<Self>("Grant") {
            Field("clientId", \.grant.clientID)
            Field("kind", as: .enumeration(["static", "registered", "instance"]), \.kind)
            Field("name") { $0.grant.client?.shownName ?? $0.grant.clientID }
            Field("uri", orNull: \.uri)
            Field("device", orNull: \.device)
            Field("scopes", \.scopes)
            Field("resources", \.resources)
            Field("grantedAt", \.grant.grantedAt)
            Field("lastUsedAt", orNull: \.grant.lastUsedAt)
            Field("lastAddress", orNull: \.grant.lastAddress)
        }

        private var kind: String {
            switch grant.client?.origin {
            case .registered?: "registered"
            case .instance?: "instance"
            case .configured?, nil: "static"
            }
        }
        private var uri: String? { grant.client?.uri }
        private var device: String? { grant.client?.instance?.device(in: .en) }
        private var scopes: [String] { grant.scopes ?? [] }
        private var resources: [String] { grant.resources ?? [] }
    }

    let grants: [Entry]

    static let fields = ResponseFields<Self>("GrantList") { Field("grants", \.grants) }
}
