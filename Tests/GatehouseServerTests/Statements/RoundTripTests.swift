import Testing

/// Hot paths send one statement to the database; those that send more state the reason.
struct HotPathRoundTripTests {
    @Test func `each path makes the stated number of round trips`() async throws {
        try await HotPathStage.with { stage in
            for path in HotPath.all + HotPath.linking {
                // The first call may fetch a key or prepare a statement, so it is not measured.
                _ = try await path.measure(on: stage)
                var measured = try await path.measure(on: stage)
                for _ in 0..<20 where !path.isWithin(measured) { measured = try await path.measure(on: stage) }
                #expect(
                    measured.statements.count == path.statements,
                    "\(path.name): \(measured.statements.map { $0.prefix(200) })")
                #expect(measured.waits == path.roundTrips, "\(path.name)")
                #expect(path.roundTrips == 1 || !path.reason.isEmpty, "\(path.name)")
            }
        }
    }

    @Test func `a change of identities takes at most three round trips`() {
        #expect(HotPath.linking.allSatisfy { $0.roundTrips <= ($0.isByCode ? 5 : 3) })
    }

    @Test func `a rate limit costs the path one more round trip`() async throws {
        try await HotPathStage.with(rateLimits: "{ refresh: 1000/min, anonymous: 1000/min }") { stage in
            for path in HotPath.all where ["me", "refresh", "anonymous sign-in", "JWKS"].contains(path.name) {
                let isGuarded = ["refresh", "anonymous sign-in"].contains(path.name)
                let statements = try await path.measure(on: stage).statements
                #expect(
                    statements.count == path.statements + (isGuarded ? 1 : 0),
                    "\(path.name): \(statements.map { $0.prefix(80) })")
            }
        }
    }
}
