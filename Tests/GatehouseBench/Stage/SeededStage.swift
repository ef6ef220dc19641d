import Foundation

/// A stage whose ES256 application was filled by `gatehouse-bench seed`, with the refresh tokens of some people.
struct SeededStage: Sendable {
    let stage: Stage
    private let password: String
    /// The people whose tokens are known, chosen from the whole range and shuffled.
    private let known: [(person: SeededPerson, refreshToken: String)]

    private static let knownPeople = 90_000
    /// Only two connections, so that a call waits for the server and not for other calls.
    private static let connections = 2

    /// The calls in the order of measurement.
    ///
    /// Those that add rows come last, because they make the small database grow.
    enum Call: String, CaseIterable {
        case me = "GET /auth/me"
        case meAgain = "GET /auth/me, of people who were just there"
        case refresh = "refresh"
        case refreshAgain = "refresh, of people who were just there"
        case signIn = "password sign-in"
        case tokenSignIn = "first sign-in by ID token"
        case anonymous = "anonymous sign-in"

        /// The sixths of the known people that this call uses.
        fileprivate var sixths: Range<Int> {
            switch self {
            case .me: 0..<2
            case .meAgain: 2..<3
            case .refresh: 3..<4
            case .refreshAgain: 4..<5
            case .signIn: 5..<6
            case .tokenSignIn, .anonymous: 0..<0
            }
        }

        /// The maximum number of people for one measurement.
        ///
        /// The calls "who were just there" use few people, so that all but the first calls find cached rows.
        fileprivate var mostPeople: Int { self == .meAgain || self == .refreshAgain ? 100 : .max }

        /// How long the call is measured.
        ///
        /// Fast calls are usually stopped before they use the same people again, which the number of calls per person
        /// shows.
        fileprivate var seconds: Double { [.signIn, .tokenSignIn, .anonymous].contains(self) ? 4 : 2 }
    }

    init(_ stage: Stage, accounts: Int) async throws {
        progress("seeding \(accounts) accounts")
        let lines = try await stage.seed(accounts, printing: Self.knownPeople)
        guard let password = lines.lazy.compactMap({ $0.wholeMatch(of: /password: (.+)/)?.1 }).first else {
            throw BenchError("no people were seeded; the reason is above")
        }
        self.stage = stage
        self.password = String(password)
        known = lines.compactMap { line in
            guard let (_, digits, token) = line.wholeMatch(of: /seeded-([0-9]+)@[^ ]+ ([^ ]+)/)?.output,
                let number = Int(digits)
            else { return nil }
            return (SeededPerson(number), String(token))
        }.shuffled()
        guard known.count == min(accounts, Self.knownPeople) else {
            throw BenchError("\(known.count) people were printed")
        }
    }

    struct Timing {
        /// The median latency in milliseconds.
        let median: Double
        /// The number of calls per person; `nil` if each call is for a new person.
        let callsPerPerson: Double?
    }

    func timing(of call: Call, inRound round: Int, of rounds: Int) async throws -> Timing {
        let people = people(of: call, inRound: round, of: rounds)
        let load = try await load(of: call, for: people)
        let count = try await load.wrk.run(stage.url(load.path), seconds: call.seconds)
        guard count.failures == 0, let latency = count.latency else {
            throw BenchError("\(call.rawValue): \(count.failures) calls failed")
        }
        let calls = count.perSecond * call.seconds
        return Timing(median: latency.median, callsPerPerson: people.isEmpty ? nil : calls / Double(people.count))
    }

    private func load(
        of call: Call, for people: ArraySlice<(person: SeededPerson, refreshToken: String)>
    ) async throws -> (wrk: Wrk, path: String) {
        let (script, path, lines): (WrkScript, String, [String]) =
            switch call {
            case .me, .meAgain:
                // Access tokens are made now, because they expire after an hour and seeding may take longer.
                (.get, "/me", try await stage.seeder.accessTokens(of: people.map(\.person), in: stage.es256))
            case .refresh, .refreshAgain: (.refresh, "/refresh", people.map(\.refreshToken))
            case .signIn:
                (.post, "/login", people.map { RequestBody.signIn(email: $0.person.email, password: password) })
            case .tokenSignIn:
                (.once, "/oauth/loopback/token", try stage.identityProvider.newPeople(20_000).map(RequestBody.idToken))
            case .anonymous: (.post, "/anonymous", [RequestBody.empty])
            }
        return (try stage.wrk(script, connections: Self.connections, lines: lines), path)
    }

    /// Returns the people for a call in a round.
    ///
    /// No other call or round uses them.
    private func people(
        of call: Call, inRound round: Int, of rounds: Int
    ) -> ArraySlice<(person: SeededPerson, refreshToken: String)> {
        let size = call.sixths.count * known.count / 6 / rounds
        let first = call.sixths.lowerBound * known.count / 6 + round * size
        return known[first..<(first + size)].prefix(call.mostPeople)
    }
}

extension Stage {
    fileprivate func url(_ path: String) -> String {
        gatehouse.url("\(self.path(of: es256))/api/v1/auth\(path)")
    }
}
