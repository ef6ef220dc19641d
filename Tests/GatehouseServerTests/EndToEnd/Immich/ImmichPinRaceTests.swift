import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Guesses of a PIN by calls of an app; `PinRaceTests` has those of the use case.
struct ImmichPinRaceTests {
    private static let batches = isLongMode ? 50 : 5
    private static let perBatch = 200

    @Test func `guesses at once by HTTP get five tries, then twenty in all, and never 401`() async throws {
        try await ImmichApp.with { server, app in
            let token = try await app.token(at: server)
            let set = try await app.call(.PUT, "/auth/pin-code", ["pinCode": "9999"], token: token)
            #expect(set.status == 204, "\(set.text)")

            let first = try await guess(app, token, batches: Self.batches)
            #expect((1...5).contains(first["WRONG_PIN"] ?? 0), "\(first)")
            #expect(try await server.count("SELECT wrong_in_all FROM pins") == 5)

            // Each time the lock is over, the tries go on until the PIN is void.
            var wrong = first["WRONG_PIN"] ?? 0
            for _ in 0..<30 {
                try await server.unlockAll()
                wrong += try await guess(app, token, batches: 1)["WRONG_PIN"] ?? 0
            }
            #expect(wrong <= 20)
            #expect(try await server.count("SELECT wrong_in_all FROM pins") == 20)
            try await server.unlockAll()
            let right = try await app.call(.POST, "/auth/pin-code/verify", ["pinCode": "9999"], token: token)
            expectImmich(right, 400, "PIN_NOT_SET", "User does not have a PIN code")
            let status = try await app.call(.GET, "/auth/status", token: token)
            #expect(status["isElevated"] == false && status["pinCode"] == false, "\(status.text)")
            #expect(try await app.call(.GET, "/users/me", token: token).status == 200)
        }
    }

    /// Guesses wrong PINs at once, by both calls that verify one, and returns how often each code was the answer.
    ///
    /// A server whose hashing is busy refuses with `OVERLOADED`, which counts as no try.
    private func guess(_ app: ImmichApp, _ token: String, batches: Int) async throws -> [String: Int] {
        var codes: [String: Int] = [:]
        for batch in 0..<batches {
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for number in 0..<Self.perBatch {
                    let pin = String("000\((batch * Self.perBatch + number) % 9999)".suffix(4))
                    let path = number.isMultiple(of: 2) ? "/auth/pin-code/verify" : "/auth/session/unlock"
                    group.addTask { try await app.call(.POST, path, ["pinCode": .string(pin)], token: token) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers {
                #expect([400, 429, 503].contains(answer.status), "\(answer.text)")
                codes[answer["code"].string ?? "none", default: 0] += 1
            }
        }
        return codes
    }
}
