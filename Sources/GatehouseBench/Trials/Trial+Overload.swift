import AsyncHTTPClient
import Foundation
import Passwords

extension Trial {
    /// Sign-ins at twenty times what the machine can hash, and the rest of the API meanwhile.
    static func overload(on stage: Stage) -> Trial {
        Trial(name: "password sign-ins at 20 times their capacity") {
            try await withClient { client in
                let people = stage.people(of: stage.es256)
                let path = stage.gatehouse.url(stage.path(of: stage.es256))
                let bodies = people.map { #"{"email":"\#($0.email)","password":"\#(Seeder.password)"}"# }
                let login = path + "/api/v1/auth/login"
                let capacity = try await stage.wrk(.post, connections: 8, lines: bodies).run(login, seconds: 5)
                    .perSecond
                let flood = PacedLoad(url: login, bodies: bodies, perSecond: 20 * capacity)
                var (idle, busy): ([[Double]], [[Double]]) = ([], [])
                var refused: [PacedLoad.Answer] = []
                var errors = 0
                for _ in 1...3 {
                    idle.append(try await calm(on: stage, path: path, client: client).p99s)
                    async let flooded = flood.run(seconds: calmSeconds, client: client)
                    let meanwhile = try await calm(on: stage, path: path, client: client)
                    busy.append(meanwhile.p99s)
                    errors += meanwhile.errors
                    let answers = await flooded
                    refused += answers.filter { $0.status != 200 }
                    errors += answers.count { ![200, 503, 429].contains($0.status) }
                    errors += refused.count { $0.retryAfter == nil }
                }
                var findings = try calmCalls.indices.map { index in
                    try Finding(
                        "\(calmCalls[index]), p99 against idle (\(idle.map { $0[index] }.min().formatted) ms)",
                        zip(busy, idle).map { $0[index] / $1[index] }, unit: "×", atMost: 1.5)
                }
                findings.append(try Finding("refused, p99", [refused.p99], unit: "ms", atMost: 20))
                findings.append(
                    try Finding("neither served nor refused as it should be", [Double(errors)], unit: "", atMost: 0))
                return findings
            }
        }
    }

    private static let calmCalls = ["refresh", "me", "keys"]
    private static let calmSeconds = 10.0

    /// Each of the other calls, fifty times a second.
    private static func calm(
        on stage: Stage, path: String, client: HTTPClient
    ) async throws -> (p99s: [Double], errors: Int) {
        let rate = 50.0
        let people = stage.people(of: stage.es256)
        let tokens = try await stage.seeder.refreshTokens(Int(rate * calmSeconds), for: people, in: stage.es256)
        let loads = [
            PacedLoad(
                url: path + "/api/v1/auth/refresh", bodies: tokens.map { #"{"refreshToken":"\#($0)"}"# },
                perSecond: rate),
            PacedLoad(url: path + "/api/v1/auth/me", bearer: people.first?.accessToken, perSecond: rate),
            PacedLoad(url: path + "/.well-known/jwks.json", perSecond: rate),
        ]
        let answers = await withTaskGroup(of: (Int, [PacedLoad.Answer]).self) { group in
            for (index, load) in loads.enumerated() {
                group.addTask { (index, await load.run(seconds: calmSeconds, client: client)) }
            }
            return await group.reduce(into: Array(repeating: [PacedLoad.Answer](), count: loads.count)) {
                $0[$1.0] = $1.1
            }
        }
        return (answers.map(\.p99), answers.joined().count { $0.status != 200 })
    }
}

extension Double? {
    fileprivate var formatted: String { (self ?? 0).formatted3 }
}

/// Keeps connections for everybody; nobody waits for one.
func withClient<Result: Sendable>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
    let client = HTTPClient(configuration: configuration)
    do {
        let result = try await body(client)
        try await client.shutdown()
        return result
    } catch {
        try? await client.shutdown()
        throw error
    }
}
