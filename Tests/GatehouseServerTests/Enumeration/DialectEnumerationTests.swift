import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Sign-ins through a dialect reveal as little of an address as those of version 1 of the API.
struct DialectEnumerationTests {
    /// Equal statements, rows and hashes stand for equal time, which is too noisy to measure on a machine that runs other
    /// tests.
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

    @Test(.longMode) func `a wrong password takes as long for an address without an account`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            var (known, unknown): ([Double], [Double]) = ([], [])
            for round in 0..<800 {
                // Neither address is ever locked.
                if round.isMultiple(of: 8) { try await server.execute("DELETE FROM password_failures") }
                for isKnown in [round.isMultiple(of: 2), !round.isMultiple(of: 2)] {
                    let email = isKnown ? person.email : APIClient.newAddress()
                    let start = ContinuousClock.now
                    let answer = try await app.login(email, "not the password")
                    let time = (ContinuousClock.now - start) / .milliseconds(1)
                    #expect(answer.status == 401, "\(answer.text)")
                    if isKnown { known.append(time) } else { unknown.append(time) }
                }
            }
            let medians = [known, unknown].map { $0.sorted()[$0.count / 2] }
            let ratio = medians[0] / medians[1]
            #expect(abs(ratio - 1) <= 0.05, "\(medians) ms")
        }
    }
}
