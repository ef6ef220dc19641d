internal import Accounts
internal import Foundation
internal import OpenID

/// Refreshing, listing and ending sessions.
struct SessionOperations: Sendable {
    let useCases: UseCases

    var refresh: Operation<RefreshBody, TokenPair> {
        Operation("session.refresh", limits: .client(.refresh), errors: [.invalidRefreshToken]) { context, input in
            try await useCases.refresh.refresh(input.refreshToken, in: context.application)
        }
    }

    var logout: Operation<LogoutBody, Void> {
        Operation("session.logout", access: .bearer, limits: .client(.logout)) { context, input in
            try await useCases.sessions.logout(
                scope: input.scope ?? .local, refreshToken: input.refreshToken, by: context.principal)
        }
    }

    var list: Operation<Void, [SessionList.Entry]> {
        Operation("session.list", access: .bearer, limits: .none) { context, _ in
            let principal = try context.principal
            return try await useCases.sessions.list(of: principal).map { session in
                let client = session.client.map { id in
                    SessionList.Entry.Client(
                        id: id, name: context.scope.application.openID?.configuredClient(id)?.name ?? id)
                }
                return .init(listing: session, client: client, isCurrent: session.id == principal.sessionID)
            }
        }
    }

    var end: Operation<UUID, Void> {
        Operation("session.end", access: .bearer, limits: .general, errors: [.sessionNotFound]) { context, id in
            try await useCases.sessions.end(id, by: context.principal)
        }
    }
}
