internal import Accounts
internal import OpenID
internal import Pages
internal import ProviderKit

/// What an account has given OpenID clients.
struct GrantList: ResponsePayload {
    struct Entry: ResponsePayload {
        let grant: ClientGrant

        static let fields = ResponseFields<Self>("Grant") {
            Field("clientId", \.grant.clientID)
            Field("kind", as: .enumeration(["static", "registered", "instance"]), \.kind)
            Field("name") { $0.grant.client?.shownName ?? $0.grant.clientID }
            Field("uri", orNull: \.grant.client?.uri)
            Field("device", orNull: { $0.grant.client?.instance?.device(in: .en) })
            Field("scopes") { $0.grant.scopes ?? [] }
            Field("resources") { $0.grant.resources ?? [] }
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
    }

    let grants: [Entry]

    static let fields = ResponseFields<Self>("GrantList") { Field("grants", \.grants) }
}
