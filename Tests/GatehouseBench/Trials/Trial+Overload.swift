import AsyncHTTPClient
import Foundation

extension Trial {
    /// Measures sign-ins at twenty times the machine's hashing rate, with other calls at the same time.
    ///
    /// The sign-ins come once from a single network and once from many; the other calls come from other networks. The
    /// server is new, so that its memory can be measured before it has hashed anything.
    static func overload(on stage: Stage, rounds: Int) -> Trial {
        Trial(name: "password sign-ins at 20 times their capacity") { findings in
            try await stage.withReplica("overload", isBehindProxy: true) { server in
                try await withClient { client in
                    let path = server.url(stage.path(of: stage.es256))
                    let login = path + "/api/v1/auth/login"
                    let bodies = stage.people(of: stage.es256).map(\.signInBody)
                    _ = await (try await CalmLoad(on: stage, path: path)).run(client: client)
                    let base = try ProcessStatus.residentMegabytes(of: server.id)
                    let capacity = try await stage.wrk(.post, connections: Stage.signInConnections, lines: bodies)
                        .run(login, seconds: 5).perSecond
                    for (name, origin) in origins {
                        let flood = PacedLoad(url: login, bodies: bodies, perSecond: 20 * capacity, origin: origin)
                        var measured: [FloodRound] = []
                        for _ in 1...rounds {
                            measured.append(
                                try await FloodRound(flood, of: server, on: stage, path: path, client: client))
                        }
                        let most = ResidentMemory.underLoad(base: base)
                        findings += try FloodRound.findings(measured, named: name, capacity: capacity, most: most)
                        // Refusals are a separate finding, because there may be none.
                        findings.append(try FloodRound.refusals(measured, named: name))
                    }
                }
            }
        }
    }

    /// The client addresses of the sign-ins.
    ///
    /// A network is the first 24 bits of an address.
    private static let origins: [(String, @Sendable (Int) -> String)] = [
        ("one network", { _ in "198.18.0.1" }),
        ("many networks", { "10.\($0 / 256 % 256).\($0 % 256).1" }),
    ]
}

/// Measures the other calls on an idle server and then during the sign-ins.
private struct FloodRound {
    private let idle: CalmLoad.Result
    private let busy: CalmLoad.Result
    private let answers: [PacedLoad.Answer]
    private let megabytes: [Double]

    init(_ flood: PacedLoad, of server: ServerProcess, on stage: Stage, path: String, client: HTTPClient) async throws {
        // Both loads are prepared before either starts.
        let (quiet, disturbed) = (try await CalmLoad(on: stage, path: path), try await CalmLoad(on: stage, path: path))
        idle = await quiet.run(client: client)
        let sampled = try await ResidentMemory.sampled(of: server.id) {
            async let answers = flood.run(seconds: CalmLoad.seconds, client: client)
            let result = await disturbed.run(client: client)
            return (result, await answers)
        }
        (busy, answers) = sampled.value
        megabytes = sampled.megabytes
    }

    private var refused: [PacedLoad.Answer] { answers.filter { $0.status == 429 || $0.status == 503 } }
    private var served: [PacedLoad.Answer] { answers.filter { $0.status == 200 } }

    private var errors: Int {
        idle.errors + busy.errors + answers.count - served.count - refused.count
            + refused.count { $0.retryAfter == nil }
    }

    /// Includes sign-ins that were admitted during the flood and finished after it.
    private var servedPerSecond: Double {
        let last = served.map { $0.due + .milliseconds($0.milliseconds) }.max()
        guard let first = answers.map(\.due).min(), let last else { return 0 }
        return Double(served.count) / max(CalmLoad.seconds, (last - first) / .seconds(1))
    }

    static func refusals(_ rounds: [FloodRound], named name: String) throws -> Finding {
        try Finding(
            "\(name): refused, p99", rounds.map(\.refused).filter { !$0.isEmpty }.map(\.p99), unit: "ms",
            .all(atMost: 20))
    }

    static func findings(
        _ rounds: [FloodRound], named name: String, capacity: Double, most: Double
    ) throws -> [Finding] {
        let calm = try CalmLoad.calls.enumerated().map { index, call in
            let usual = Spread(rounds.map { $0.idle.p99s[index] })?.median ?? 0
            return try Finding(
                "\(name): \(call), p99 against idle (\(usual.formatted3) ms)",
                rounds.map { $0.busy.p99s[index] / $0.idle.p99s[index] }, unit: "×", .median(atMost: 1.5))
        }
        return try calm + [
            Finding(
                "\(name): neither served nor refused as it should be",
                [Double(rounds.reduce(0) { $0 + $1.errors })], unit: "", .all(atMost: 0)),
            Finding(
                "\(name): served, of \(capacity.formatted3) without a flood", rounds.map(\.servedPerSecond),
                unit: "per second"),
            Finding("\(name): memory under it", rounds.flatMap(\.megabytes), unit: "MB", .all(atMost: most)),
        ]
    }
}

/// Sends each of the other calls fifty times a second.
private struct CalmLoad {
    static let calls = ["refresh", "me", "keys"]
    static let seconds = 10.0
    private static let rate = 50.0

    struct Result {
        let p99s: [Double]
        let errors: Int
    }

    private let loads: [PacedLoad]

    /// Makes the tokens that the calls need.
    init(on stage: Stage, path: String) async throws {
        let people = stage.people(of: stage.es256)
        let tokens = try await stage.seeder.refreshTokens(Int(Self.rate * Self.seconds), for: people, in: stage.es256)
        let origin: @Sendable (Int) -> String = { "192.0.2.\($0 % 250 + 1)" }
        loads = [
            PacedLoad(
                url: path + "/api/v1/auth/refresh", bodies: tokens.map(RequestBody.refresh), perSecond: Self.rate,
                origin: origin),
            PacedLoad(
                url: path + "/api/v1/auth/me", bearer: people.first?.accessToken, perSecond: Self.rate, origin: origin),
            PacedLoad(url: path + "/.well-known/jwks.json", perSecond: Self.rate, origin: origin),
        ]
    }

    func run(client: HTTPClient) async -> Result {
        let answers = await withTaskGroup(of: (Int, [PacedLoad.Answer]).self) { group in
            for (index, load) in loads.enumerated() {
                // The calls run at the same time, as on a real server.
                group.addTask { (index, await load.run(seconds: Self.seconds, client: client)) }
            }
            return await group.reduce(into: Array(repeating: [PacedLoad.Answer](), count: loads.count)) {
                $0[$1.0] = $1.1
            }
        }
        return Result(p99s: answers.map(\.p99), errors: answers.joined().count { $0.status != 200 })
    }
}
