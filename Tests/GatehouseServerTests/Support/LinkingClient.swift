import Accounts
import Delivery
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Calls of an app about identities, merges and codes.
extension APIClient {
    /// Links evidence that `ScriptedProvider` accepts.
    func link(
        _ evidence: VerifiedIdentity, bearer: String, onConflict: String? = nil, provider: String = "scripted"
    ) async throws -> Answer {
        var body: [String: JSONValue] = ["proof": .string(try evidence.proof)]
        body["onConflict"] = onConflict.map { .string($0) }
        return try await post("/auth/identities/\(provider)", .object(body), bearer: bearer)
    }

    func reauthenticate(
        _ evidence: VerifiedIdentity, bearer: String, provider: String = "scripted"
    ) async throws -> Answer {
        try await post(
            "/auth/reauthenticate", ["provider": .string(provider), "proof": .string(evidence.proof)], bearer: bearer)
    }

    func identities(bearer: String) async throws -> [JSONValue] {
        let answer = try await get("/auth/identities", bearer: bearer)
        try #require(answer.status == 200, "\(answer.text)")
        return answer["identities"].array ?? []
    }

    func identityID(of provider: String, bearer: String) async throws -> String {
        let identities = try await identities(bearer: bearer)
        return try #require(identities.first { $0["provider"].string == provider }?["id"].string, "\(identities)")
    }

    /// Changes the address of an identity to a new one, and returns the new one.
    func changeAddress(of id: String, bearer: String, at server: TestServer) async throws -> String {
        let (path, address) = ("/auth/identities/\(id)/address", Self.newAddress())
        let asked = try await post(path, ["email": .string(address)], bearer: bearer)
        let proof: JSONValue = [
            "challengeId": asked["challengeId"], "code": .string(try await sentCode(to: address, at: server)),
        ]
        let changed = try await post("\(path)/verify", proof, bearer: bearer)
        try #require(changed.status == 200, "\(changed.text)")
        return address
    }

    /// Creates a person who signs up with `ScriptedProvider`.
    func newcomer(_ subject: String = UUID().uuidString, email: String? = nil) async throws -> Person {
        let answer = try await present(.somebody(subject, email: email), to: "scripted")
        return try Person(answer, email: email ?? "", password: "")
    }

    /// Returns the merge token from the refusal of a conflicting link.
    func ticket(_ evidence: VerifiedIdentity, bearer: String) async throws -> String {
        let refused = try await link(evidence, bearer: bearer)
        expectError(refused, 409, "IDENTITY_IN_USE")
        return try #require(refused.json["error"]["details"]["mergeToken"].string, "\(refused.text)")
    }

    func merge(_ ticket: String, bearer: String, survivor: String? = nil, dryRun: Bool = false) async throws -> Answer {
        var body: [String: JSONValue] = ["mergeToken": .string(ticket)]
        body["survivor"] = survivor.map { .string($0) }
        if dryRun { body["dryRun"] = true }
        return try await post("/auth/merge", .object(body), bearer: bearer)
    }

    /// Waits for a mail or text message with a code to an address, and returns the code of the newest one.
    func sentCode(to address: String, at server: TestServer, other: Set<String> = []) async throws -> String {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(10)
        while clock.now < deadline {
            for message in server.inbox.messages() where message.to == address {
                guard let match = message.text.firstMatch(of: /(?:^|[^0-9])([0-9]{6})(?:[^0-9]|$)/) else { continue }
                let code = String(match.output.1)
                if !other.contains(code) { return code }
            }
            try await clock.sleep(for: .milliseconds(10))
        }
        throw TimeoutError()
    }

    /// Requests a code, reads it from the inbox, and returns a request body that presents it.
    func challenge(
        _ kind: String, _ address: String, at server: TestServer, bearer: String? = nil
    ) async throws -> [String: JSONValue] {
        let known = Set(
            server.inbox.messages().filter { $0.to == address }
                .compactMap { $0.text.firstMatch(of: /[0-9]{6}/).map { String($0.output) } })
        let asked = try await post("/auth/\(kind)/otp", [kind: .string(address)], bearer: bearer)
        try #require(asked.status == 202, "\(asked.text)")
        let code = try await sentCode(to: address, at: server, other: known)
        return ["challengeId": asked["challengeId"], "code": .string(code)]
    }
}

extension TestServer {
    /// Runs the body against a server with `ScriptedProvider` and the phone provider.
    static func linking(
        application: String = "", providers: String = "",
        _ body: @Sendable @escaping (TestServer, APIClient) async throws -> Void
    ) async throws {
        try await with(
            application: application, providers: "scripted: {}\nphone: { enabled: true }\n" + providers
        ) { server in
            try await body(server, APIClient(server))
        }
    }
}
