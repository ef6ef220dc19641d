import Testing

/// Hot paths send one statement to the database; those that send more state the reason.
struct HotPathRoundTripTests {
    @Test func `each path makes the stated number of round trips`() async throws {
        try await HotPathStage.with { stage in
            for path in HotPath.all {
                // The first call may fetch a key or prepare a statement, so it is not measured.
                _ = try await path.statements(on: stage)
                let trips = try await path.statements(on: stage).filter { !$0.hasPrefix("BEGIN") }
                #expect(trips.count == path.roundTrips, "\(path.name): \(trips.map { $0.prefix(200) })")
                #expect(path.roundTrips == 1 || !path.reason.isEmpty, "\(path.name)")
            }
        }
    }

    @Test func `a rate limit costs the path one more round trip`() async throws {
        try await HotPathStage.with(rateLimits: "{ refresh: 1000/min, anonymous: 1000/min }") { stage in
            for path in HotPath.all where ["me", "refresh", "anonymous sign-in", "JWKS"].contains(path.name) {
                let isGuarded = ["refresh", "anonymous sign-in"].contains(path.name)
                let trips = try await path.statements(on: stage)
                #expect(
                    trips.count == path.roundTrips + (isGuarded ? 1 : 0), "\(path.name): \(trips.map { $0.prefix(80) })"
                )
            }
        }
    }
}
