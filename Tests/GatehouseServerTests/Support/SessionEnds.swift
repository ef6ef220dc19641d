import Foundation
import NIOHTTP1
import Postgres
import ProviderKit

@testable import GatehouseServer

/// Prepares an end of a person's sessions, and returns the call that causes it and returns its status.
typealias SessionEnd = (
    name: String, prepare: @Sendable (Person, TestServer) async throws -> @Sendable () async throws -> Int
)

/// The ways in which sessions end while something else goes on.
enum SessionEnds {
    /// Ends of all sessions of an account, which need no provider but its password.
    static let ofAccount: [SessionEnd] = [
        (
            "sign-out everywhere",
            { person, server in
                {
                    try await APIClient(server).post("/auth/logout", ["scope": "global"], bearer: person.accessToken)
                        .status
                }
            }
        ),
        (
            "a change of the password",
            { person, server in
                let body: JSONValue = [
                    "password": .string(APIClient.otherPassword), "currentPassword": .string(person.password),
                ]
                return {
                    try await APIClient(server).put("/auth/change-password", body, bearer: person.accessToken).status
                }
            }
        ),
        (
            "a reset of the password",
            { person, server in
                let token = try await APIClient(server).forget(at: server, person.email)
                return { try await APIClient(server).reset(token, to: APIClient.otherPassword).status }
            }
        ),
        (
            "the account disabled",
            { person, server in
                {
                    try await server.setDisabled(true, person)
                    return 204
                }
            }
        ),
        (
            "the account deleted",
            { person, server in
                { try await APIClient(server).delete("/auth/account", bearer: person.accessToken).status }
            }
        ),
    ]

    /// The end of the session of the person's browser alone.
    static let ofBrowser: SessionEnd = (
        "the browser session ended",
        { person, server in
            let id = try await server.text(
                "SELECT id::text FROM sessions WHERE uid = $1 AND kind = 'browser'",
                [.uuid(UUID(uuidString: person.uid))])
            return {
                try await APIClient(server).delete("/auth/sessions/\(id ?? "")", bearer: person.accessToken).status
            }
        }
    )
}
