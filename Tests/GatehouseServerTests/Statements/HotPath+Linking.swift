import Foundation
import NIOHTTP1
import ProviderKit
import Testing

extension HotPath {
    private static let decideAndWrite = """
        what is known is read and decided on; the accounts are locked, what was read is checked if the writes do not \
        depend on it, and everything is written; COMMIT
        """
    private static let lockAndWrite = "what the change depends on is locked and read; everything is written; COMMIT"
    private static let codeAndWrite = "the attempt; what is known; the locks, the check and the writes; COMMIT"

    static let linking: [HotPath] = [
        HotPath("linking with an ID token", 3, statements: 5, because: decideAndWrite) { stage in
            let person = try await stage.client.register(at: stage.server)
            let token = try stage.token(of: UUID().uuidString.lowercased())
            return {
                try await stage.client.post(
                    "/auth/identities/google", ["idToken": .string(token)], bearer: person.accessToken)
            }
        },
        HotPath("linking an address that the provider vouches for", 3, statements: 9, because: decideAndWrite) {
            stage in
            let person = try await stage.client.register(at: stage.server)
            let email = APIClient.newAddress()
            return {
                try await stage.client.link(.somebody(UUID().uuidString, email: email), bearer: person.accessToken)
            }
        },
        HotPath("a guest's first link", 3, statements: 8, because: decideAndWrite) { stage in
            let guest = try await stage.client.post("/auth/anonymous")
            return {
                try await stage.client.link(
                    .somebody(UUID().uuidString), bearer: guest["accessToken"].string ?? "")
            }
        },
        HotPath("joining the account that owns the address", 3, statements: 9, because: decideAndWrite) { stage in
            let person = try await stage.client.register(at: stage.server)
            return {
                try await stage.client.present(.somebody(UUID().uuidString, email: person.email), to: "scripted")
            }
        },
        HotPath("linking with a code", 4, statements: 11, because: codeAndWrite) { stage in
            let person = try await stage.client.newcomer()
            let answer = try await stage.client.challenge(
                "email", APIClient.newAddress(), at: stage.server, bearer: person.accessToken)
            return {
                try await stage.client.post("/auth/identities/email", .object(answer), bearer: person.accessToken)
            }
        },
        HotPath("unlinking", 3, statements: 10, because: lockAndWrite) { stage in
            let person = try await stage.client.register(at: stage.server)
            _ = try await stage.client.link(.somebody(UUID().uuidString), bearer: person.accessToken)
            let id = try await stage.client.identityID(of: "scripted", bearer: person.accessToken)
            return { try await stage.client.delete("/auth/identities/\(id)", bearer: person.accessToken) }
        },
        HotPath("merging", 3, statements: 13, because: lockAndWrite) { stage in
            let (person, ticket) = try await stage.ticketHolder()
            return { try await stage.client.merge(ticket, bearer: person.accessToken) }
        },
        HotPath("undoing a merge", 3, statements: 12, because: lockAndWrite) { stage in
            let (person, ticket) = try await stage.ticketHolder()
            let merged = try await stage.client.merge(ticket, bearer: person.accessToken)
            let id = try #require(merged["merge"]["id"].string, "\(merged.text)")
            let bearer = merged["accessToken"].string
            return { try await stage.client.post("/auth/merges/\(id)/undo", bearer: bearer) }
        },
        HotPath(
            "changing an address with a code", 6, statements: 18,
            because: """
                the account's identities; the attempt; what is known; the locks and the identities with roles; the check \
                and the writes; COMMIT
                """
        ) { stage in
            let person = try await stage.client.register(at: stage.server)
            let id = try await stage.client.identityID(of: "email", bearer: person.accessToken)
            let address = APIClient.newAddress()
            let asked = try await stage.client.post(
                "/auth/identities/\(id)/address", ["email": .string(address)], bearer: person.accessToken)
            let code = try await stage.client.sentCode(to: address, at: stage.server)
            return {
                try await stage.client.post(
                    "/auth/identities/\(id)/address/verify",
                    ["challengeId": asked["challengeId"], "code": .string(code)], bearer: person.accessToken)
            }
        },
    ]
}

extension HotPathStage {
    /// A person with a ticket to merge with another account.
    fileprivate func ticketHolder() async throws -> (Person, ticket: String) {
        let person = try await client.register(at: server)
        let other = UUID().uuidString
        _ = try await client.newcomer(other)
        return (person, try await client.ticket(.somebody(other), bearer: person.accessToken))
    }
}
