import Accounts
import Delivery
import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit

@testable import GatehouseServer

/// One of several clients that change the same few accounts concurrently with random calls.
struct ContentionClient: Sendable {
    enum Call: CaseIterable {
        case login, present, guest, refresh, logout, endSession, link, unlink, delete, restore, merge, undo
        case changePassword, forgetPassword, reset, beginAddress, verifyAddress, askCode, verifyCode, register, verify
        case reauthenticate

        /// The relative frequency of the call.
        var weight: Int {
            switch self {
            case .login: 8
            case .present, .link: 6
            case .logout, .refresh, .unlink: 4
            case .reset, .verify, .restore, .merge, .verifyCode, .verifyAddress: 4
            case .delete, .changePassword: 2
            // Few of these succeed, because another call has changed the account meanwhile.
            case .undo: 14
            case .reauthenticate: 8
            default: 3
            }
        }
    }

    static let addresses = (0..<5).map { "person\($0)@example.com" }
    private static let spare = (0..<3).map { "spare\($0)@example.com" }
    private static let calls = Call.allCases.flatMap { Array(repeating: $0, count: $0.weight) }
    private static let passwords = [APIClient.password, APIClient.otherPassword]

    private let server: TestServer
    private let client: APIClient
    private let board: ContentionBoard
    private var generator: SeededGenerator

    init(_ server: TestServer, board: ContentionBoard, seed: UInt64) {
        self.server = server
        client = APIClient(server)
        self.board = board
        generator = SeededGenerator(seed: seed)
    }

    private mutating func pick<Item>(_ items: [Item]) -> Item? { items.randomElement(using: &generator) }

    mutating func step() async throws {
        let call = pick(Self.calls) ?? .login
        guard let person = pick(board.people), let address = pick(Self.addresses), let other = pick(board.people),
            let password = pick(Self.passwords), let any = pick(Self.addresses + Self.spare),
            let subject = pick(Array(0..<8)), let choice = pick(ConflictChoice.allCases)
        else { return }
        let evidence = VerifiedIdentity.somebody(
            "subject-\(subject)", email: pick([any, nil]) ?? nil, isVerified: pick([true, false]) ?? true)
        let bearer = person.accessToken
        let answer: APIClient.Answer?
        switch call {
        case .login: answer = try await client.login(address, password)
        case .present: answer = try await client.present(evidence)
        case .guest: answer = try await client.post("/auth/anonymous")
        case .refresh: answer = try await client.refresh(person.refreshToken)
        case .logout: answer = try await logout(person, with: other)
        case .endSession:
            let session = try DecodedToken(other.accessToken).claims["sid"].string ?? ""
            answer = try await client.delete("/auth/sessions/\(session)", bearer: bearer)
        case .link: answer = try await client.link(evidence, bearer: bearer, onConflict: choice.rawValue)
        case .reauthenticate: answer = try await client.reauthenticate(evidence, bearer: bearer)
        case .unlink: answer = try await unlink(bearer)
        case .delete: answer = try await client.delete("/auth/account", bearer: bearer)
        case .restore:
            guard let token = pick(board.notes("restoreToken")) else { return }
            answer = try await client.post("/auth/account/restore", ["restoreToken": .string(token)])
        case .merge:
            guard let note = pick(board.notes("mergeToken"))?.split(separator: " ") else { return }
            answer = try await client.merge(String(note[1]), bearer: String(note[0]))
        case .undo:
            guard let note = pick(board.notes("merge"))?.split(separator: " ") else { return }
            answer = try await client.post("/auth/merges/\(note[1])/undo", bearer: String(note[0]))
        case .changePassword:
            answer = try await client.put("/auth/change-password", ["password": .string(password)], bearer: bearer)
        case .forgetPassword: answer = try await client.post("/auth/forgot-password", ["email": .string(address)])
        case .reset:
            guard let token = mailed(/reset[^?\s]*\?token=([A-Za-z0-9_-]+)/) else { return }
            answer = try await client.reset(token, to: password)
        case .register:
            answer = try await client.post(
                "/auth/register", ["email": .string(any), "password": .string(password)])
        case .verify:
            guard let token = mailed(/verify[^?\s]*\?token=([A-Za-z0-9_-]+)/) else { return }
            answer = try await client.post(
                "/auth/verify-email", ["token": .string(token)], bearer: pick([bearer, nil]) ?? nil)
        case .beginAddress: answer = try await beginAddress(any, bearer)
        case .askCode: answer = try await askCode(any, bearer: pick([bearer, nil]) ?? nil)
        case .verifyCode, .verifyAddress: answer = try await verifyCode(call, bearer)
        }
        if let answer { note(answer, to: call, bearer: bearer) }
    }

    // MARK: - Calls of several steps

    private mutating func logout(_ person: Person, with other: Person) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["scope": .string(pick(["local", "others", "global"]) ?? "local")]
        if pick([true, false]) == true { body["refreshToken"] = .string(other.refreshToken) }
        return try await client.post("/auth/logout", .object(body), bearer: person.accessToken)
    }

    private mutating func unlink(_ bearer: String) async throws -> APIClient.Answer? {
        let identities = try await client.get("/auth/identities", bearer: bearer)["identities"].array ?? []
        guard let id = pick(identities)?["id"].string else { return nil }
        return try await client.delete("/auth/identities/\(id)", bearer: bearer)
    }

    private mutating func beginAddress(_ address: String, _ bearer: String) async throws -> APIClient.Answer? {
        let identities = try await client.get("/auth/identities", bearer: bearer)["identities"].array ?? []
        guard let id = pick(identities.filter { $0["provider"] == "email" })?["id"].string else { return nil }
        let answer = try await client.post(
            "/auth/identities/\(id)/address", ["email": .string(address)], bearer: bearer)
        if let challenge = answer["challengeId"].string {
            board.remember("\(bearer) \(challenge) \(address) /auth/identities/\(id)/address/verify", as: "address")
        }
        return answer
    }

    private mutating func askCode(_ address: String, bearer: String?) async throws -> APIClient.Answer {
        let answer = try await client.post("/auth/email/otp", ["email": .string(address)], bearer: bearer)
        if let challenge = answer["challengeId"].string {
            let path = pick(["/auth/email/otp/verify", "/auth/identities/email"]) ?? ""
            board.remember("\(bearer ?? "-") \(challenge) \(address) \(path)", as: "code")
        }
        return answer
    }

    private mutating func verifyCode(_ call: Call, _ bearer: String) async throws -> APIClient.Answer? {
        guard let note = pick(board.notes(call == .verifyCode ? "code" : "address"))?.split(separator: " "),
            let code = server.inbox.messages().lazy.filter({ $0.to == note[2] })
                .compactMap({ $0.text.firstMatch(of: /\n([0-9]{6})\s/)?.output.1 }).first
        else { return nil }
        let presenter: String? = note[0] == "-" ? (note[3].hasSuffix("otp/verify") ? nil : bearer) : String(note[0])
        return try await client.post(
            String(note[3]), ["challengeId": .string(String(note[1])), "code": .string(String(code))],
            bearer: presenter)
    }

    /// Returns a random token from the recent mails that match the pattern.
    private mutating func mailed(_ pattern: Regex<(Substring, Substring)>) -> String? {
        pick(
            server.inbox.messages().prefix(40).compactMap {
                $0.text.firstMatch(of: pattern).map { String($0.output.1) }
            })
    }

    // MARK: - Values kept from responses

    private func note(_ answer: APIClient.Answer, to call: Call, bearer: String) {
        board.count("\(call) \(answer.status) \(answer.code ?? "")")
        let details = answer.json["error"]["details"]
        if let token = details["restoreToken"].string { board.remember(token, as: "restoreToken") }
        if let token = details["mergeToken"].string { board.remember("\(bearer) \(token)", as: "mergeToken") }
        guard answer["user"]["id"].string != nil, let person = try? Person(answer, email: "", password: "") else {
            return
        }
        board.remember(person)
        if let id = answer["merge"]["id"].string { board.remember("\(person.accessToken) \(id)", as: "merge") }
    }
}
