internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Refreshing, listing and ending sessions.
struct SessionRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] {
        [refresh, logout, sessions, endSession]
    }

    private var refresh: Endpoint {
        .post(
            "/auth/refresh", "Exchanges a refresh token for its successor and a fresh access token",
            limit: .refresh, takes: RefreshBody.self, answers: TokenResponse.self, errors: [.invalidRefreshToken]
        ) { context, body in
            TokenResponse(try await useCases.refresh.refresh(body.refreshToken, in: context.application.application))
        }
    }

    private var logout: Endpoint {
        .post(
            "/auth/logout", "Ends this session, the others, or all of them", access: .bearer,
            limit: .logout, takes: LogoutBody.self
        ) { context, body in
            try await useCases.sessions.logout(
                scope: body.scope ?? .local, refreshToken: body.refreshToken, by: context.principal)
            return [:]
        }
    }

    private var sessions: Endpoint {
        .get("/auth/sessions", "The account's live sessions", access: .bearer, answers: SessionList.self) { context in
            let principal = try context.principal
            return SessionList(try await useCases.sessions.list(of: principal), current: principal.sessionID)
        }
    }

    private var endSession: Endpoint {
        .delete("/auth/sessions/{id}", "Ends one session", access: .bearer, errors: [.sessionNotFound]) { context in
            guard let id = context.parameters.get("id", as: UUID.self) else { throw AccountsError.sessionNotFound }
            try await useCases.sessions.end(id, by: context.principal)
            return [:]
        }
    }
}
