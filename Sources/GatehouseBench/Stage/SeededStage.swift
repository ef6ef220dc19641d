import Foundation

/// A stage whose application of ES256 has as many people as `gatehouse bench seed` was told, some of them known here.
struct SeededStage: Sendable {
    let stage: Stage
    private let password: String
    /// Evenly spread over all of them.
    private let known: [(email: String, refreshToken: String)]
    private let accessTokens: [String]

    /// How many people are known, a share of them for each round: a refresh token is good once.
    private static let knownPeople = 20_000
    /// Few, so that a call waits for the server and not for other calls.
    private static let connections = 2

    enum Call: String, CaseIterable {
        case signIn = "password sign-in"
        case tokenSignIn = "first sign-in by ID token"
        case anonymous = "anonymous sign-in"
        case refresh = "refresh"
        case me = "GET /auth/me"
    }

    init(_ stage: Stage, accounts: Int) async throws {
        progress("seeding \(accounts) accounts")
        let lines = try await stage.seed(accounts, printing: Self.knownPeople)
        guard let password = lines.lazy.compactMap({ $0.wholeMatch(of: /password: (.+)/)?.1 }).first else {
            throw BenchError("nobody was seeded; the reason is above")
        }
        self.stage = stage
        self.password = String(password)
        known = lines.compactMap { line in
            line.wholeMatch(of: /([^ ]+@[^ ]+) ([^ ]+)/).map { (String($0.1), String($0.2)) }
        }
        let refresh = PacedLoad(
            url: stage.url("/refresh"),
            bodies: known.suffix(known.count / 10).map { #"{"refreshToken":"\#($0.refreshToken)"}"# },
            perSecond: 500)
        accessTokens = try await withClient { client in
            await refresh.run(seconds: Double(refresh.bodies.count) / 500, client: client)
                .compactMap { $0.body.firstMatch(of: /"accessToken":"([^"]+)"/).map { String($0.1) } }
        }
    }

    /// - Returns: half of the calls took no longer, in milliseconds.
    func median(of call: Call, inRound round: Int, of rounds: Int) async throws -> Double {
        let (script, path, lines): (WrkScript, String, [String]) =
            switch call {
            case .signIn:
                (
                    .post, "/login",
                    known.shuffled().map { #"{"email":"\#($0.email)","password":"\#(password)"}"# }
                )
            case .tokenSignIn:
                (
                    .once, "/oauth/loopback/token",
                    try stage.identityProvider.newPeople(20_000).map { #"{"idToken":"\#($0)"}"# }
                )
            case .anonymous: (.post, "/anonymous", ["{}"])
            case .refresh: (.refresh, "/refresh", share(round, of: rounds).map(\.refreshToken))
            case .me: (.get, "/me", accessTokens)
            }
        let load = try stage.wrk(script, connections: Self.connections, lines: lines)
        let count = try await load.run(stage.url(path), seconds: 4)
        guard count.failures == 0, let latency = count.latency else {
            throw BenchError("\(call.rawValue): \(count.failures) calls failed")
        }
        return latency.median
    }

    /// Nine tenths of the known are there to be refreshed.
    private func share(_ round: Int, of rounds: Int) -> ArraySlice<(email: String, refreshToken: String)> {
        let size = known.count * 9 / 10 / rounds
        return known[(round * size)..<((round + 1) * size)]
    }
}

extension Stage {
    fileprivate func url(_ path: String) -> String {
        gatehouse.url("\(self.path(of: es256))/api/v1/auth\(path)")
    }
}
