package import Accounts
package import ProviderKit

/// Runs the checks of providers on behalf of administrators.
package struct ProviderDiagnosis: Sendable {
    /// How many diagnoses a server makes at once.
    package static let places = 4
    /// How long a further diagnosis waits for its place; with the checks and the end of a cancelled call, clients wait for
    /// less than 15 seconds.
    package static let patience: Duration = .seconds(2)
    /// How long a diagnosis takes at most, apart from the time until a cancelled call returns.
    package static let limit: Duration = .seconds(12)

    let services: any ProviderServices
    private let trail: any AuditTrail
    private let capacity = AdminCapacity(places: places, patience: patience)
    private let limit: Duration
    private let clock: any Clock<Duration>

    package init(
        services: any ProviderServices, trail: any AuditTrail, limit: Duration = limit,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.services, self.trail, self.limit, self.clock) = (services, trail, limit, clock)
    }

    /// The kinds of provider whose settings can be checked.
    package var kinds: [ProviderKindDescription] { services.kinds }

    /// Checks a configured provider, and records that; also one that an administrator has switched off.
    ///
    /// There is nothing to check of a provider that is off in the configuration.
    /// - Throws: `AdministrationError.notFound`; `AccountsError.overloaded` if `places` diagnoses are being made.
    package func diagnose(
        _ name: String, by act: AdministrativeAct, in application: Application
    ) async throws -> [CheckResult] {
        guard let configured = application.providers[name] else { throw AdministrationError.notFound("provider") }
        guard let provider = configured.switched(to: configured.declaration.mode).provider else {
            let reason = "The provider is off in the configuration, so its settings are not read."
            return [CheckResult(id: "settings", outcome: .skipped(reason))]
        }
        return try await capacity.run {
            try await record(configured.name, kind: configured.kind, by: act, in: application)
            let tools = services.tools(forProvider: configured.name, isCandidate: false, in: application)
            return await run(provider, with: tools)
        }
    }

    /// Checks a provider that is not configured, and records that; the settings are not stored.
    /// - Throws: `AdministrationError.invalidProviderSettings`; `AccountsError.overloaded`.
    package func check(
        _ settings: CandidateSettings, by act: AdministrativeAct, in application: Application
    ) async throws -> (candidate: ProviderCandidate, checks: [CheckResult]) {
        try await capacity.run {
            let candidate = try services.makeCandidate(settings, in: application)
            try await record(settings.name, kind: settings.kind, by: act, in: application)
            let tools = services.tools(forProvider: settings.name, isCandidate: true, in: application)
            return (candidate, await run(candidate.provider, with: tools))
        }
    }

    /// Records a diagnosis before it is made, because no transaction includes its calls.
    private func record(
        _ name: String, kind: String, by act: AdministrativeAct, in application: Application
    ) async throws {
        let details = act.details(adding: ["provider": .string(name), "kind": .string(kind)])
        try await trail.record(AuditEntry(.providerDiagnosed, details: details), application: application.id)
    }

    private func run(_ provider: any Provider, with tools: DiagnosticTools) async -> [CheckResult] {
        guard let provider = provider as? any DiagnosableProvider else {
            return [CheckResult(id: "settings", outcome: .ok("The settings are valid; there is no service to ask."))]
        }
        return await run(provider.checks(with: tools))
    }

    /// Runs the checks one after the other, and returns the results that exist when the time is over.
    func run(_ checks: [ProviderCheck]) async -> [CheckResult] {
        var outcomes: [String: CheckOutcome] = [:]
        await withTaskGroup(of: CheckOutcome?.self) { group in
            // The clock is a task that ends with `nil`: of it and the running check, the first to end decides.
            group.addTask {
                try? await clock.sleep(for: limit)
                return nil
            }
            for check in checks {
                let missing = check.needs.filter { ![.ok, .warning].contains(outcomes[$0]?.state) }
                guard missing.isEmpty else {
                    outcomes[check.id] = .skipped("Needs \(missing.joined(separator: " and ")).")
                    continue
                }
                group.addTask { await check.run() }
                guard let outcome = await group.next() ?? nil, !Task.isCancelled else {
                    outcomes[check.id] = .failed(.upstreamTimeout, evidence: "the diagnosis has ended meanwhile")
                    break
                }
                outcomes[check.id] = outcome
            }
            group.cancelAll()
        }
        return checks.map { CheckResult(id: $0.id, outcome: outcomes[$0.id] ?? .skipped("There was no time left.")) }
    }
}

/// What one check has found.
package struct CheckResult: Sendable, Equatable {
    package let id: String
    package let outcome: CheckOutcome
}
