internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Refreshing, listing and ending sessions.
struct SessionOperations: Sendable {
    let useCases: UseCases

    var refresh: Operation<RefreshBody, TokenPair> {
        Operation("session.refresh", limits: .client(.refresh), errors: [.invalidRefreshToken]) { context, input in
            try await useCases.refresh.refresh(input.refreshToken, in: context.application)
        }
    }

    /// A client whose access token has expired logs out with its refresh token, which could renew the access token.
    var logout: Operation<LogoutBody, Void> {
        Operation("session.logout", access: .formerBearer, limits: .client(.logout)) { context, input in
            let scope = input.scope ?? .local
            if let principal = context.optionalPrincipal {
                return try await useCases.sessions.logout(
                    scope: scope, refreshToken: input.refreshToken, by: principal)
            }
            guard scope == .local, let refreshToken = input.refreshToken,
                let former = context.request.request.headers[.authorization].flatMap(EndpointResponder.bearer)
            else {
                // Not counted as a refused proof, as for other calls.
                throw APIError(.invalidToken, "The token is not valid")
            }
            try await useCases.sessions.logout(
                refreshToken: refreshToken, former: former, in: context.application)
        }
    }

    /// Ends the session of the token, for clients that have no refresh token.
    var logoutHere: Operation<Void, Void> {
        Operation("session.logout", access: .bearer, limits: .client(.logout)) { context, _ in
            try await useCases.sessions.logout(scope: .local, refreshToken: nil, by: context.principal)
        }
    }

    /// Does nothing but require a valid token.
    var validate: Operation<Void, Void> {
        Operation("session.validate", access: .bearer, limits: .none) { _, _ in }
    }

    /// A short access token, with which a proxy passes the request of the token's owner on to the app's back end.
    var check: Operation<Void, String> {
        Operation("session.check", access: .bearer, limits: .none) { context, _ in
            try await useCases.backEndTokens.token(for: context.principal)
        }
    }

    var list: Operation<Void, [SessionList.Entry]> {
        Operation("session.list", access: .bearer, limits: .none) { context, _ in
            let principal = try context.principal
            return try await useCases.sessions.list(of: principal).map { session in
                SessionList.Entry(
                    session, isCurrent: session.id == principal.sessionID, at: context.scope.application.openID)
            }
        }
    }

    var end: Operation<UUID, Void> {
        Operation("session.end", access: .bearer, limits: .general, errors: [.sessionNotFound]) { context, id in
            try await useCases.sessions.end(id, by: context.principal)
        }
    }
}
