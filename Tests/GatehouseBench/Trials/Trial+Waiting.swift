import AsyncHTTPClient
import Foundation
import GatehouseServer

extension Trial {
    /// The descriptors that the server and this program need besides those of the pages.
    private static let otherDescriptors = 512

    /// Measures other calls with and without pages that wait for a phone.
    ///
    /// Fails if the limit of file descriptors admits fewer than `pages`, because the result would say less.
    static func waiting(on stage: Stage, pages: Int, rounds: Int) -> Trial {
        Trial(name: "\(pages) waiting QR pages") { findings in
            let most = FileDescriptors.limit - otherDescriptors
            guard pages <= most else {
                throw BenchError("the limit of file descriptors admits \(most) pages; raise it or use --pages \(most)")
            }
            try await stage.withReplica("waiting") { server in
                try await withClient { client in
                    let waiting = try await WaitingPages(pages, at: server, on: stage)
                    var measured: [WaitingRound] = []
                    for _ in 1...rounds {
                        measured.append(try await WaitingRound(waiting, pages: pages, on: stage, client: client))
                    }
                    findings += try WaitingRound.findings(measured)
                }
            }
        }
    }
}

/// Measures the other calls without the pages and then with them.
private struct WaitingRound {
    /// A client's refresh, and who is signed in: by the REST interface's token, and by the client's.
    private static let calls = ["POST /oauth/token", "GET /auth/me", "GET /oauth/userinfo"]
    private static let seconds = 10.0
    /// Below what one core serves, so that the latency is not that of a queue.
    private static let rate = 50.0
    private static let mostTimesSlower = 1.5
    /// 16 KiB.
    private static let mostKilobytesOfPage = 16.384

    private let without, with: [[PacedLoad.Answer]]
    private let failures: Int
    private let kilobytesOfPage: Double

    init(_ waiting: WaitingPages, pages: Int, on stage: Stage, client: HTTPClient) async throws {
        let server = waiting.server
        // Both loads are prepared before either starts.
        let (quiet, disturbed) = (
            try await Self.loads(on: stage, at: server), try await Self.loads(on: stage, at: server)
        )
        without = await Self.run(quiet, client: client)
        let base = try ProcessStatus.residentMegabytes(of: server.id)
        let (result, failures) = try await waiting.waiting {
            let megabytes = try ProcessStatus.residentMegabytes(of: server.id)
            return (megabytes, await Self.run(disturbed, client: client))
        }
        with = result.1
        kilobytesOfPage = max(0, result.0 - base) * 1000 / Double(pages)
        self.failures = failures
    }

    /// Each refresh token is presented once.
    private static func loads(on stage: Stage, at server: ServerProcess) async throws -> [PacedLoad] {
        let party = RelyingParty(stage)
        var tokens: [String] = []
        while Double(tokens.count) < rate * seconds {
            tokens += try await party.tokens("refresh_token", scopes: ["email", "offline_access"])
        }
        let access = try await party.tokens("access_token", scopes: ["openid", "email"]).first
        let path = server.url(stage.path(of: stage.es256))
        return [
            PacedLoad(
                url: path + "/oauth/token",
                bodies: tokens.map { "\(RelyingParty.authentication)&grant_type=refresh_token&refresh_token=\($0)" },
                contentType: "application/x-www-form-urlencoded", perSecond: rate),
            PacedLoad(
                url: path + "/api/v1/auth/me", bearer: stage.people(of: stage.es256).first?.accessToken,
                perSecond: rate),
            PacedLoad(url: path + "/oauth/userinfo", bearer: access, perSecond: rate),
        ]
    }

    private static func run(_ loads: [PacedLoad], client: HTTPClient) async -> [[PacedLoad.Answer]] {
        var answers: [[PacedLoad.Answer]] = []
        for load in loads { answers.append(await load.run(seconds: seconds, client: client)) }
        return answers
    }

    static func findings(_ rounds: [WaitingRound]) throws -> [Finding] {
        let ratios = try calls.enumerated().flatMap { index, call in
            [
                try ratio("\(call), p50", rounds) { $0[index].p50 },
                try ratio("\(call), p99", rounds) { $0[index].p99 },
            ]
        }
        let refused = rounds.flatMap { $0.without + $0.with }.joined().count { $0.status != 200 }
        return try ratios + [
            Finding("calls that were refused", [Double(refused)], unit: "", .all(atMost: 0)),
            Finding("waiting calls that failed", rounds.map { Double($0.failures) }, unit: "", .all(atMost: 0)),
            // Later rounds use the memory of the first.
            Finding(
                "memory of a waiting page", rounds.prefix(1).map(\.kilobytesOfPage), unit: "kB",
                .all(atMost: mostKilobytesOfPage)),
        ]
    }

    private static func ratio(
        _ name: String, _ rounds: [WaitingRound], _ latency: ([[PacedLoad.Answer]]) -> Double
    ) throws -> Finding {
        let usual = Spread(rounds.map { latency($0.without) })?.median ?? 0
        return try Finding(
            "\(name) against none waiting (\(usual.formatted3) ms)",
            rounds.map { latency($0.with) / latency($0.without) }, unit: "×", .median(atMost: mostTimesSlower))
    }
}
