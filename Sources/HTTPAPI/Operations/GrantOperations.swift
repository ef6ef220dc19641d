internal import Accounts
internal import OpenID
internal import ProviderKit

/// Shows and takes back what an account has given OpenID clients.
struct GrantOperations: Sendable {
    let grants: ClientGrants

    var list: Operation<Void, GrantList> {
        Operation("grant.list", access: .bearer, limits: .none, errors: [.notFound]) { context, _ in
            let grants = try await grants.list(of: context.principal.uid, at: context.issuer)
            return GrantList(grants: grants.map { GrantList.Entry(grant: $0) })
        }
    }

    /// The input is the client's id.
    var revoke: Operation<String, Void> {
        Operation("grant.revoke", access: .bearer, limits: .general, errors: [.grantNotFound, .notFound]) {
            context, client in
            try await grants.revoke(client, of: context.principal.uid, at: context.issuer)
        }
    }
}
