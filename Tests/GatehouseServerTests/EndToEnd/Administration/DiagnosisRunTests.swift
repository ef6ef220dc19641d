import Accounts
import Administration
import Foundation
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// In which order checks run, and what is left of those that take too long.
struct DiagnosisRunTests {
    private func run(_ checks: [ProviderCheck], limit: Duration = .seconds(30)) async throws -> [CheckResult] {
        let providers = ProviderRegistry(
            installedKinds: [],
            configured: [
                ConfiguredProvider(
                    name: "one", displayName: nil, mode: .open, type: Checked.self, provider: Checked(checks: checks))
            ])
        let application = Accounts.Application(
            id: 1, name: "demo", issuer: "https://gate.example", audience: "demo", policy: ApplicationPolicy(),
            providers: providers)
        return try await ProviderDiagnosis(services: Services(), trail: NoTrail(), limit: limit)
            .diagnose("one", by: TestServer.operations, in: application)
    }

    @Test func `a check runs after those that it needs have succeeded`() async throws {
        let results = try await run([
            ProviderCheck("a") { .ok("Fine.") },
            ProviderCheck("b", after: ["a"]) { .warning("So so.", remedy: "Look.") },
            ProviderCheck("c", after: ["b"]) { .failed("Bad.", remedy: "Mend it.") },
            ProviderCheck("d", after: ["a", "c"]) { .ok("Never.") }, ProviderCheck("e", after: ["d"]) { .ok("Never.") },
            ProviderCheck("f") { .ok("Fine.") },
        ])
        #expect(results.map(\.id) == ["a", "b", "c", "d", "e", "f"])
        #expect(results.map(\.outcome.state) == [.ok, .warning, .failed, .skipped, .skipped, .ok])
    }

    @Test func `waiting for a place and checking leave time for the answer within 15 seconds`() {
        #expect(ProviderDiagnosis.patience + ProviderDiagnosis.limit <= .seconds(14))
    }

    @Test func `when the time is up, what is known is returned`() async throws {
        let results = try await run(
            [
                ProviderCheck("quick") { .ok("Fine.") },
                ProviderCheck("slow") {
                    try? await Task.sleep(for: .seconds(600))
                    return .ok("Late.")
                },
                ProviderCheck("never") { .ok("Later.") },
            ], limit: .milliseconds(50))
        #expect(results.map(\.outcome.state) == [.ok, .failed, .skipped])
        #expect(results[1].outcome.evidence?.hasPrefix("upstream.timeout") == true)
    }
}

/// A provider with given checks.
private struct Checked: DiagnosableProvider {
    struct Settings: ProviderSettings {
        static let schema = SettingsSchema([])
    }

    static let kind = "checked"
    static let displayName = "Checked"
    let checks: [ProviderCheck]

    init(checks: [ProviderCheck]) { self.checks = checks }
    init(settings: Settings, context: ProviderContext) { checks = [] }
    func checks(with tools: DiagnosticTools) -> [ProviderCheck] { checks }
}

private struct NoTrail: AuditTrail {
    func record(_ entry: AuditEntry, application: Accounts.Application.ID) async throws {}
}

private struct Services: ProviderServices {
    let kinds: [ProviderKindDescription] = []

    func tools(
        forProvider name: String, isCandidate: Bool, in application: Accounts.Application
    ) -> DiagnosticTools {
        DiagnosticTools(service: FixedPorts.none.probe(allowsPrivateHosts: false), callbackURL: "", now: { Date() })
    }

    func makeCandidate(
        _ settings: CandidateSettings, in application: Accounts.Application
    ) throws -> ProviderCandidate { throw AdministrationError.notFound("candidate") }

    func state(of owner: FindingLog.Owner) -> (isUp: Bool, lastSuccess: Date?)? { nil }
}
