import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Steps of a person who recovers an account through its mailbox.
extension APIClient {
    /// Resets the password of an address with a mailed token.
    func resetPassword(of email: String, at server: TestServer) async throws -> Answer {
        try await reset(try await forget(at: server, email), to: Self.otherPassword)
    }

    /// Waits for the mail about the newest reset of the address and returns its review token.
    func reviewToken(of email: String, at server: TestServer, other: Set<String> = []) async throws -> String {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(10)
        while clock.now < deadline {
            for message in server.inbox.messages() where message.to == email {
                guard let match = message.text.firstMatch(of: /\/review\?token=([A-Za-z0-9_-]+)/) else { continue }
                let token = String(match.output.1)
                if !other.contains(token) { return token }
            }
            try await clock.sleep(for: .milliseconds(10))
        }
        throw TimeoutError()
    }

    func review(_ token: String, keep: [String] = [], remove: [String] = []) async throws -> Answer {
        try await post(
            "/auth/identities/review",
            [
                "token": .string(token), "keep": .array(keep.map { .string($0) }),
                "remove": .array(remove.map { .string($0) }),
            ])
    }

    /// Registers a person with a password and links an identity of `ScriptedProvider`.
    func victim(
        at server: TestServer, of intruder: String, email: String? = nil
    ) async throws -> (person: Person, identity: String) {
        let person = try await register(at: server)
        let linked = try await link(.somebody(intruder, email: email), bearer: person.accessToken)
        try #require(linked.status == 200, "\(linked.text)")
        return (person, try await identityID(of: "scripted", bearer: person.accessToken))
    }

    /// Signs in with the password that `resetPassword` set, and returns the access token.
    func bearer(of person: Person) async throws -> String {
        let login = try await login(person.email, Self.otherPassword)
        return try #require(login["accessToken"].string, "\(login.text)")
    }
}

/// Expects the refusal of a quarantined identity.
/// - Returns: the ticket of the refusal.
@discardableResult
func expectQuarantined(
    _ answer: APIClient.Answer, _ about: String = "", sourceLocation: SourceLocation = #_sourceLocation
) throws -> JSONValue {
    expectRefusal(
        answer, 403, "SECOND_PROOF_REQUIRED", rule: "identity.quarantined", about, sourceLocation: sourceLocation)
    let details = answer.json["error"]["details"]
    #expect(details["mergeToken"] == .null && details["restoreToken"] == .null, sourceLocation: sourceLocation)
    #expect(details["ticket"].string != nil, "\(about): \(answer.text)", sourceLocation: sourceLocation)
    return details["ticket"]
}
