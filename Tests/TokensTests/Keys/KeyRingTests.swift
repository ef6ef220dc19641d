import Accounts
import Foundation
import Testing

@testable import Tokens

struct KeyRingTests {
    private let installation: Installation
    private let application = Application.sample()

    init() async throws {
        installation = try await Installation()
    }

    private func kid(of ring: KeyRing, _ application: Application) async throws -> String {
        try await ring.signingKey(of: application.id).kid
    }

    @Test func makesAKeyOnceAndKeepsIt() async throws {
        let first = installation.keyRing()
        try await first.prepare(application)
        try await first.prepare(application)
        let second = installation.keyRing()
        try await second.prepare(application)
        #expect(try await kid(of: first, application) == kid(of: second, application))
    }

    @Test func replicasThatStartTogetherAgreeOnOneKey() async throws {
        let (one, other) = (installation.keyRing(), installation.keyRing())
        installation.store.makeReadersMeet(2)
        async let first: Void = one.prepare(application)
        async let second: Void = other.prepare(application)
        _ = try await (first, second)
        #expect(try await kid(of: one, application) == kid(of: other, application))
        #expect(try await one.keySet(of: application) == other.keySet(of: application))
        #expect(try await installation.store.signingKeys(application: application.id).count == 1)
    }

    @Test func isolatesApplications() async throws {
        let ring = installation.keyRing()
        let other = Application.sample(2)
        try await ring.prepare(application)
        try await ring.prepare(other)
        #expect(try await kid(of: ring, application) != kid(of: ring, other))
        let document = try await JWKVerifier(ring.keySet(of: other))
        #expect(document.keys.map(\.kid) == [try await kid(of: ring, other)])
    }

    @Test func anotherAlgorithmOrLengthMakesANewKey() async throws {
        let ring = installation.keyRing()
        for (algorithm, bits, published) in [
            (SigningAlgorithm.es256, 2048, 1), (.es256, 4096, 1), (.rs256, 2048, 2), (.rs256, 3072, 3), (.edDSA, 0, 4),
        ] {
            try await ring.prepare(.sample(1, algorithm, bits: bits))
            let key = try await ring.signingKey(of: 1)
            #expect(key.algorithm == algorithm)
            #expect(algorithm != .rs256 || key.bits == bits)
            #expect(try await JWKVerifier(ring.keySet(of: application)).keys.count == published)
        }
    }

    @Test func aRetiredKeyStaysPublishedUntilItsLastTokenHasExpired() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        let old = try await kid(of: ring, application)
        try await ring.rotate(application)
        let new = try await kid(of: ring, application)
        #expect(old != new)
        #expect(try await JWKVerifier(ring.keySet(of: application)).keys.map(\.kid) == [new, old])
        installation.time.advance(by: 3600)
        try await ring.reloadAll()
        #expect(try await ring.keys(of: application.id).publishes(old))
        installation.time.advance(by: 600)
        try await ring.reloadAll()
        #expect(try await JWKVerifier(ring.keySet(of: application)).keys.map(\.kid) == [new])
    }

    @Test func aRetiredKeyStaysPublishedForTheTokensOfEachResource() async throws {
        let application = Application.sample(clientLifetime: .seconds(86_400))
        let ring = installation.keyRing()
        try await ring.prepare(application)
        let old = try await kid(of: ring, application)
        try await ring.rotate(application)
        for (time, isPublished) in [(86_400, true), (600, false)] {
            installation.time.advance(by: TimeInterval(time))
            try await ring.reloadAll()
            #expect(try await ring.keys(of: application.id).publishes(old) == isPublished)
        }
    }

    @Test func aStolenKeyGoesAtOnce() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        let old = try await kid(of: ring, application)
        try await ring.rotate(application, overlap: .zero)
        #expect(try await !ring.keys(of: application.id).publishes(old))
    }

    @Test func `a key that signs is replaced when it is retired, and a retired one stays retired`() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        let old = try await kid(of: ring, application)
        let event = AuditEntry(.keyRetired)
        for _ in 0..<2 { try await ring.retire(old, for: .accessTokens, of: application, recording: event) }
        #expect(try await !ring.keys(of: application.id).publishes(old))
        #expect(try await kid(of: ring, application) != old)
        #expect(installation.store.events.map(\.event) == [.keyRetired])
    }

    @Test func `a published key is retired without another rotation`() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        let old = try await kid(of: ring, application)
        try await ring.rotate(application, recording: AuditEntry(.keysRotated))
        let new = try await kid(of: ring, application)
        try await ring.retire(old, for: .accessTokens, of: application, recording: AuditEntry(.keyRetired))
        #expect(try await !ring.keys(of: application.id).publishes(old))
        #expect(try await kid(of: ring, application) == new)
        #expect(installation.store.events.map(\.event) == [.keysRotated, .keyRetired])
    }

    @Test func twoRotationsAtOnceAreOne() async throws {
        let (one, other) = (installation.keyRing(), installation.keyRing())
        try await one.prepare(application)
        installation.store.makeReadersMeet(2)
        async let first: Void = one.rotate(application)
        async let second: Void = other.rotate(application)
        _ = try await (first, second)
        #expect(try await kid(of: one, application) == kid(of: other, application))
        #expect(try await JWKVerifier(one.keySet(of: application)).keys.count == 2)
    }

    @Test func aReplicaThatNeverPreparedReadsTheKeys() async throws {
        try await installation.keyRing().prepare(application)
        #expect(try await installation.keyRing().signingKey(of: application.id).algorithm == .es256)
        await #expect(throws: TokensError.noSigningKey(application: 9)) {
            try await installation.keyRing().signingKey(of: 9)
        }
    }

    @Test func aFailedReloadKeepsTheKeys() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        try await ring.prepare(.sample(2))
        installation.store.setDown(true)
        await #expect(throws: MemoryStore.Unreachable.self) { try await ring.reloadAll() }
        #expect(try await kid(of: ring, application).utf8.count == 43)
    }

    @Test func aLoadThatWasOvertakenChangesNothing() async throws {
        let (ring, other) = (installation.keyRing(), installation.keyRing())
        try await ring.prepare(application)
        let id = application.id
        try await installation.store.overtake {
            try await ring.reload(id)
        } with: {
            try await other.rotate(application)
            try await ring.reload(id)
        }
        #expect(try await kid(of: ring, application) == kid(of: other, application))
    }

    /// An ES256 key is also a valid Ed25519 seed, and an Ed25519 seed a valid ES256 key.
    @Test func aKeyUnderAnotherAlgorithmIsRefused() async throws {
        try await installation.keyRing().prepare(application)
        installation.store.change(application.id) { $0.algorithm = .edDSA }
        await #expect(throws: TokensError.malformedSigningKey(.edDSA)) {
            try await installation.keyRing().reload(application.id)
        }
    }

    @Test func aKeyFromAnotherApplicationIsRefused() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        try await ring.prepare(.sample(2))
        let foreign = try await installation.store.signingKeys(application: 2)[0]
        installation.store.change(application.id) { $0 = foreign }
        await #expect(throws: AccountsError.unreadableSecret) { try await ring.reload(application.id) }
    }

    // MARK: - Unknown keys

    /// Whether the ring finds a key that no application has.
    private func findsUnknown(_ number: Int, in ring: KeyRing) async throws -> Bool {
        let kid = Base64URL.encode(Array(repeating: UInt8(0), count: 24) + withUnsafeBytes(of: number) { Array($0) })
        return try await ring.key(kid, for: .accessTokens, of: application.id) != nil
    }

    @Test func aKeyThatAnotherReplicaMadeIsFound() async throws {
        let (one, other) = (installation.keyRing(), installation.keyRing())
        try await one.prepare(application)
        try await other.prepare(application)
        try await one.rotate(application)
        installation.time.advance(by: 1)
        let new = try await one.signingKey(of: application.id)
        #expect(try await other.key(new.kid, for: .accessTokens, of: application.id)?.kid == new.kid)
        #expect(try await kid(of: other, application) == new.kid)
    }

    @Test func aFloodOfUnknownKeysLoadsOncePerSecond() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        for _ in 1...3 {
            installation.time.advance(by: 1)
            let before = installation.store.reads
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10_000 {
                    group.addTask {
                        let isFound = try await findsUnknown(number, in: ring)
                        #expect(!isFound)
                    }
                }
                try await group.waitForAll()
            }
            #expect(installation.store.reads == before + 1)
        }
    }

    /// While the keys are uncertain the error is "unavailable", because clients discard invalid tokens.
    @Test func whileTheDatabaseIsDownAnUnknownKeyIsNotCalledInvalid() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        installation.store.setDown(true)
        installation.time.advance(by: 1)
        let before = installation.store.reads
        for number in 0..<5 {
            await #expect(throws: MemoryStore.Unreachable.self) {
                try await findsUnknown(number, in: ring)
            }
        }
        #expect(installation.store.reads == before + 1)
        installation.store.setDown(false)
        installation.time.advance(by: 1)
        #expect(try await !findsUnknown(0, in: ring))
    }

    @Test func whatIsNoHeaderOfOursLoadsNothing() async throws {
        let ring = installation.keyRing()
        try await ring.prepare(application)
        let codec = AccessTokenCodec(keys: ring, time: installation.time)
        installation.time.advance(by: 1)
        let before = installation.store.reads
        let kid = try await kid(of: ring, application)
        let unknown = Base64URL.encode(Array(repeating: UInt8(1), count: 32))
        let headers = [
            "", "{}", #"{"alg":"none"}"#, #"{"alg":"HS256","kid":"\#(kid)","typ":"JWT"}"#,
            #"{"alg":"RS256","kid":"\#(kid)","typ":"JWT"}"#, #"{"alg":"ES256","kid":"short","typ":"JWT"}"#,
            #"{"alg":"ES256","kid":"\#(kid)","typ":"JWT","crit":[]}"#,
            #"{"alg":"RS256","kid":"\#(kid)","typ":"at+jwt"}"#,
            #"{"alg":"ES256", "kid":"\#(unknown)","typ":"JWT"}"#, #"{"alg":"ES256","kid":"\#(unknown)","typ":"JOSE"}"#,
        ]
        for header in headers {
            await #expect(throws: AccountsError.invalidToken) {
                try await codec.verify("\(Base64URL.encode(Array(header.utf8))).e30.AAAA", for: application)
            }
        }
        #expect(installation.store.reads == before)
    }
}
