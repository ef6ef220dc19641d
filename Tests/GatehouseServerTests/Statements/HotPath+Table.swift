import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit

@testable import GatehouseServer

extension HotPath {
    static let all: [HotPath] = [
        HotPath("JWKS", 0, because: "keys are held in memory") { stage in
            { try await stage.client.send(.GET, "/.well-known/jwks.json") }
        },
        HotPath("providers", 0, because: "they are configured") { stage in
            { try await stage.client.get("/auth/providers") }
        },
        HotPath("me", 1) { stage in
            let person = try await stage.client.register(at: stage.server)
            return { try await stage.client.get("/auth/me", bearer: person.accessToken) }
        },
        HotPath("refresh", 1) { stage in
            let person = try await stage.client.register(at: stage.server)
            return { try await stage.client.refresh(person.refreshToken) }
        },
        HotPath(
            "a refresh that was repeated", 2,
            because: "the shared statement rotates nothing, so the token is decided by itself"
        ) { stage in
            let person = try await stage.client.register(at: stage.server)
            _ = try await stage.client.refresh(person.refreshToken)
            return { try await stage.client.refresh(person.refreshToken) }
        },
        HotPath("anonymous sign-in", 1) { stage in
            { try await stage.client.post("/auth/anonymous") }
        },
        HotPath("anonymous sign-in with a short session", 1) { stage in
            { try await stage.client.post("/auth/anonymous", ["remember": false]) }
        },
        HotPath(
            "password sign-in", 2, because: "the hash is read, checked without a connection, then the session written"
        ) {
            stage in
            let person = try await stage.client.register(at: stage.server)
            return { try await stage.client.login(person.email) }
        },
        HotPath(
            "password sign-in with a session bearer on a known device", 2,
            because: "as any password sign-in; the device is looked up by the statement that opens the session"
        ) { stage in
            let person = try await stage.client.register(at: stage.server)
            let app = ImmichApp(api: stage.client)
            _ = try await app.login(person.email)
            return { try await app.login(person.email) }
        },
        HotPath("me with a session bearer", 2, because: "the bearer's session is found, then the account") { stage in
            let app = ImmichApp(api: stage.client)
            let token = try await app.token(at: stage.server)
            return { try await stage.client.get("/auth/me", bearer: token) }
        },
        HotPath("first sign-in with an ID token", 2, because: "what is known is read and decided on, then written") {
            stage in
            let token = try stage.token(of: UUID().uuidString.lowercased())
            return { try await stage.present(token) }
        },
        HotPath("returning with an ID token", 2, because: "what is known is read and decided on, then written") {
            stage in
            let token = try stage.token(of: UUID().uuidString.lowercased())
            _ = try await stage.present(token)
            return { try await stage.present(token) }
        },
        HotPath(
            "asking for a code", 3, statements: 5,
            because: """
                one transaction: the challenge, unless there is one; earlier links end; the new link; the mail; COMMIT
                """
        ) { stage in
            { try await stage.client.post("/auth/email/otp", ["email": .string(APIClient.newAddress())]) }
        },
        HotPath(
            "signing up by a code", 4, statements: 9,
            because: """
                one transaction: the attempt; codes and links end; what is known; the account; registrations, changes and
                claims of others on the address end; COMMIT
                """
        ) { stage in
            let answer = try await stage.code(to: APIClient.newAddress())
            return { try await stage.client.post("/auth/email/otp/verify", answer) }
        },
        HotPath(
            "returning by a code", 4, statements: 6,
            because: "one transaction: the attempt; codes and links end; what is known; the session; COMMIT"
        ) { stage in
            let person = try await stage.client.register(at: stage.server)
            let answer = try await stage.code(to: person.email)
            return { try await stage.client.post("/auth/email/otp/verify", answer) }
        },
        HotPath("a back end's check of an access token", 0, because: "ended sessions are held in memory") { stage in
            let person = try await stage.client.register(at: stage.server)
            return { try await stage.client.get("/auth/check", bearer: person.accessToken) }
        },
        HotPath("a back end's check of a session bearer", 1) { stage in
            let bearer = try await stage.bearer()
            return { try await stage.client.get("/auth/check", bearer: bearer) }
        },
        HotPath("the list of sessions", 1) { stage in
            let person = try await stage.client.register(at: stage.server)
            return { try await stage.client.get("/auth/sessions", bearer: person.accessToken) }
        },
        HotPath("logout", 1) { stage in
            let person = try await stage.client.register(at: stage.server)
            return { try await stage.client.post("/auth/logout", bearer: person.accessToken) }
        },
        HotPath(
            "logout with the refresh token", 3, because: "the token's session is found and ended, then the bearer's"
        ) {
            stage in
            let person = try await stage.client.register(at: stage.server)
            return {
                try await stage.client.post(
                    "/auth/logout", ["refreshToken": .string(person.refreshToken)], bearer: person.accessToken)
            }
        },
    ]
}

extension HotPathStage {
    /// The session bearer of a person.
    fileprivate func bearer() async throws -> String {
        let person = try await client.register(at: server)
        let bearer = SessionBearer.make(by: server.backend.opaque)
        try await server.execute(
            """
            INSERT INTO session_bearers (application_id, hash, session_id, idle, idle_until, expires_at)
            SELECT application_id, $2, id, '10 days', now() + interval '10 days', now() + interval '30 days'
              FROM sessions WHERE uid = $1
            """, [.uuid(UUID(uuidString: person.uid)), .bytes(bearer.hash)])
        return bearer.text
    }
}
