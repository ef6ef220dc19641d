import Accounts
import Crypto
import Foundation
import Testing

@testable import Tokens

struct AuditMACTests {
    private func rootKey(_ byte: UInt8) async throws -> RootKey {
        let masterKey = Data(repeating: byte, count: 32).base64EncodedString()
        return try await RootKey.open(MemoryStore(time: ManualTime()), with: MasterKeys(current: masterKey))
    }

    private func key(_ byte: UInt8) async throws -> AuditMAC {
        AuditMAC(rootKey: try await rootKey(byte))
    }

    private let event = AuditEvent(
        application: 1, id: UUID(), at: 1_706_540_400_000_001, event: "a", account: [1], session: UUID(),
        details: "{}")

    private func batch(_ change: (inout [Int]) -> Void = { _ in }, previous: [UInt8] = [9]) -> AuditBatch {
        var numbers = [2, 10, 20, 3, 30]
        change(&numbers)
        return AuditBatch(
            seq: numbers[0], previous: previous, firstAt: numbers[1], lastAt: numbers[2], sealedAt: numbers[4],
            events: numbers[3], digest: [1, 2, 3])
    }

    @Test func everyPartOfABatchCounts() async throws {
        let key = try await key(7)
        let mac = key.mac(of: batch())
        #expect(key.isMAC(mac, of: batch()))
        for index in 0..<5 {
            #expect(!key.isMAC(mac, of: batch { $0[index] += 1 }))
        }
        #expect(!key.isMAC(mac, of: batch(previous: [8])))
        #expect(!key.isMAC(Array(mac.dropLast()), of: batch()))
    }

    @Test func aBatchOfTheVersionBeforeKeepsItsMAC() async throws {
        let rootKey = try await rootKey(7)
        let key = AuditMAC(rootKey: rootKey)
        let early = AuditBatch(
            seq: 2, previous: [9], firstAt: 10, lastAt: 20, sealedAt: nil, events: 3, digest: [1, 2, 3])
        let mac = HMAC<SHA256>.authenticationCode(
            for: Framing.encode(["2", "09", "10", "20", "3", "010203"]), using: rootKey.key(for: .audit))
        #expect(key.isMAC(Array(mac), of: early))
        #expect(!key.isMAC(key.mac(of: early), of: batch()))
    }

    @Test func anotherInstallationVouchesForNothing() async throws {
        let mac = try await key(7).mac(of: batch())
        let other = try await key(8)
        #expect(!other.isMAC(mac, of: batch()))
    }

    @Test func orderAndBoundariesOfEventsCount() async throws {
        let key = try await key(7)
        let other = AuditEvent(
            application: 1, id: event.id, at: event.at, event: "a", account: nil, session: event.session,
            details: "{}")
        let shifted = AuditEvent(
            application: 1, id: event.id, at: event.at, event: "a{", account: [1], session: event.session,
            details: "}")
        let digests = [[event, other], [other, event], [event], [other], [shifted]].map { key.digest(of: $0) }
        #expect(Set(digests).count == digests.count)
    }
}
