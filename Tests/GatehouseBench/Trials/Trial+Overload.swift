import AsyncHTTPClient
import Foundation

extension Trial {
    /// Measures sign-ins at twenty times the machine's hashing rate, with other calls at the same time.
    ///
    /// The sign-ins come once from a single network and once from many; the other calls come from other networks. Then
    /// a single network signs in again beside a process that keeps one core busy. The server is new, so that its memory
    /// can be measured before it has hashed anything.
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
                    for setting in FloodSetting.all {
                        let flood = PacedLoad(
                            url: login, bodies: bodies, perSecond: 20 * capacity, origin: setting.origin)
                        let neighbor = try setting.isBesideBusyProcess ? Child.busy() : nil
                        var measured: [FloodRound] = []
                        do {
                            for _ in 1...rounds {
                                measured.append(
                                    try await FloodRound(flood, of: server, on: stage, path: path, client: client))
                            }
                        } catch {
                            try? await neighbor?.stop()
                            throw error
                        }
                        try await neighbor?.stop()
                        let most = ResidentMemory.underLoad(base: base)
                        findings += try FloodRound.findings(
                            measured, named: setting.name, capacity: capacity, most: most)
                        // Refusals are a separate finding, because there may be none.
                        findings.append(try FloodRound.refusals(measured, in: setting))
                    }
                }
            }
        }
    }
}

/// Where the sign-ins come from, and what runs beside the server.
private struct FloodSetting {
    let name: String
    var isBesideBusyProcess = false
    /// The highest latency of a refusal (p99), in milliseconds.
    var mostForRefusals = 20.0
    /// The client address of each sign-in, by its number; a network is its first 24 bits.
    let origin: @Sendable (Int) -> String

    static let all = [
        FloodSetting(name: "one network") { _ in "198.18.0.1" },
        FloodSetting(name: "many networks") { "10.\($0 / 256 % 256).\($0 % 256).1" },
        FloodSetting(name: "busy machine", isBesideBusyProcess: true, mostForRefusals: 50) { _ in "198.18.0.1" },
    ]
}

extension Child {
    /// A process that keeps one core busy, in a session of its own.
    fileprivate static func busy() throws -> Child {
        try Child(["/usr/bin/setsid", "/bin/sh", "-c", "while :; do :; done"], output: STDERR_FILENO)
    }
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

    static func refusals(_ rounds: [FloodRound], in setting: FloodSetting) throws -> Finding {
        try Finding(
            "\(setting.name): refused, p99", rounds.map(\.refused).filter { !$0.isEmpty }.map(\.p99), unit: "ms",
            .all(atMost: setting.mostForRefusals))
    }

    static func findings(
        _ rounds: [FloodRound], named name: String, capacity: Double, most: Double
    ) throws -> [Finding] {
        let calm = try CalmLoad.calls.enumerated().map { index, call in
            let usual = Spread(rounds.map { $0.idle.p99s[index] })?.median ?? 0
            return try Finding(
                "\(name): \(call), p99 against idle (\(usual.formatted3) ms)",
                rounds.map { $0.busy.p99s[index] / $0.idle.p99s[index] }, unit: "×", .median(atMost: 2))
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
