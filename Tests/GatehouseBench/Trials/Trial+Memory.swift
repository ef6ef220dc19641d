extension Trial {
    /// The highest allowed growth of resident memory under constant load, in megabytes.
    private static let drift = 2.0
    private static let connections = 3000

    /// Measures the resident memory of a new server before, during and one minute after sign-ins.
    static func memory(on stage: Stage, soak: Duration) -> Trial {
        Trial(name: "memory, \(soak.components.seconds) s of sign-ins") { findings in
            try await stage.withReplica("memory") { server in
                let people = stage.people(of: stage.es256)
                let url = server.url(stage.path(of: stage.es256)) + "/api/v1/auth"
                let me = try stage.wrk(.get, connections: 64, lines: people.map(\.accessToken))
                let login = try stage.wrk(.post, connections: Stage.signInConnections, lines: people.map(\.signInBody))
                let resident = { try ProcessStatus.residentMegabytes(of: server.id) }
                let aim = Finding.Bound.all(atMost: ResidentMemory.atRest)

                findings.append(try Finding("before anything", [try resident()], unit: "MB", aim))
                _ = try await me.run(url + "/me", seconds: 3)
                let base = try resident()
                findings.append(
                    try Finding("before the first hash, after 3 s of GET /auth/me", [base], unit: "MB", aim))
                let under = try await ResidentMemory.sampled(of: server.id) {
                    try await login.run(url + "/login", seconds: Double(soak.components.seconds))
                }
                guard under.value.perSecond > 0 else { throw BenchError("no sign-in succeeded") }
                findings.append(
                    try Finding(
                        "under \(under.value.perSecond.formatted3) sign-ins per second", under.megabytes, unit: "MB",
                        .all(atMost: ResidentMemory.underLoad(base: base))))
                findings.append(
                    try Finding(
                        "the most in the last quarter, above the most in the second",
                        [try growth(of: under.megabytes)], unit: "MB", .all(atMost: drift)))
                try await Task.sleep(for: .seconds(60))
                findings.append(try Finding("60 s after the last", [try resident()], unit: "MB", aim))

                let many = try stage.wrk(.get, connections: connections, lines: people.map(\.accessToken))
                _ = try await many.run(url + "/me", seconds: 5)
                try await Task.sleep(for: .seconds(60))
                findings.append(
                    try Finding(
                        "60 s after \(connections) connections", [try resident()], unit: "MB",
                        .all(atMost: ResidentMemory.afterConnections)))
            }
        }
    }

    private static func growth(of samples: [Double]) throws -> Double {
        let quarter = samples.count / 4
        guard let second = samples.dropFirst(quarter).prefix(quarter).max(), let last = samples.suffix(quarter).max()
        else { throw BenchError("too few figures of the memory") }
        return last - second
    }
}
