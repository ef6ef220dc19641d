import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Sign-ins through a dialect reveal as little of an address as those of version 1 of the API.
struct DialectEnumerationTests {
    @Test func `a wrong password costs the same for every address`() async throws {
        try await ObservedServer.with(application: ImmichApp.application, providers: ImmichApp.providers) { observed in
            let addresses = try await Addresses.make(at: observed)
            var all: [(sort: Addresses.Sort, seen: Observation)] = []
            for (sort, email) in addresses.all {
                let body: JSONValue = ["email": .string(email), "password": "a wrong one"]
                all.append((sort, try await observed.observe("/auth/login", body, below: "/api").0))
            }
            expectAlike(all.filter { !$0.sort.isLocked }, "login")
            expectAlike(all.filter(\.sort.isLocked), "login, locked")
            for (sort, seen) in all {
                #expect(seen.status == (sort.isLocked ? 429 : 401), "\(sort)")
                #expect(seen.hashes == (sort.isLocked ? 0 : 1), "\(sort)")
            }
        }
    }
}
