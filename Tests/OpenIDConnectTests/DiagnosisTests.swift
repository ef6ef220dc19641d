import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

/// The checks of an issuer, against a service in memory.
struct DiagnosisTests {
    private func outcomes(
        of world: World = World(), token: JSONValue = ["error": "invalid_grant"], headers: [String: String] = [:],
        failing failure: ProviderFinding? = nil
    ) async throws -> [String: CheckOutcome] {
        world.service.answer("https://id.example/token", status: 400, token)
        let provider = try world.provider()
        let tools = DiagnosticTools(
            service: Probe(service: world.service, headers: headers, failure: failure),
            callbackURL: "https://gate.example/back", now: provider.ports.now)
        var outcomes: [String: CheckOutcome] = [:]
        for check in provider.checks(with: tools) { outcomes[check.id] = await check.run() }
        return outcomes
    }

    /// The clock of the world is at 2023-11-14T22:13:20Z.
    @Test(arguments: [
        ("Tue, 14 Nov 2023 22:13:18 GMT", "ok", nil), ("Tue, 14 Nov 2023 22:13:40 GMT", "warning", "clock.behind"),
        ("Tue, 14 Nov 2023 22:15:20 GMT", "failed", "clock.behind: 120 s behind"),
        ("Tue, 14 Nov 2023 22:11:20 GMT", "failed", "clock.ahead: 120 s ahead"), ("yesterday", "skipped", nil),
    ])
    func `the clock is compared with the service's`(date: String, state: String, evidence: String?) async throws {
        let clock = try #require(try await outcomes(headers: ["date": date])["clock"])
        #expect(clock.state.rawValue == state)
        if let evidence { #expect(clock.evidence?.hasPrefix(evidence) == true, "\(clock)") }
    }

    @Test func `a response of a cache has an age`() async throws {
        let headers = ["date": "Tue, 14 Nov 2023 22:11:20 GMT", "age": "120"]
        #expect(try await outcomes(headers: headers)["clock"]?.state == .ok)
    }

    @Test(arguments: [
        ("invalid_grant", CheckOutcome.State.ok), ("bad_verification_code", .ok), ("invalid_client", .failed),
        ("unauthorized_client", .failed), ("incorrect_client_credentials", .failed), ("redirect_uri_mismatch", .failed),
        ("invalid_request", .warning), ("an error of its own\n", .warning),
    ])
    func `the error of the token endpoint says whether the client is right`(
        error: String, state: CheckOutcome.State
    ) async throws {
        let client = try #require(try await outcomes(token: ["error": .string(error)])["client"])
        #expect(client.state == state, "\(client)")
        #expect((client.remedy == nil) == (state == .ok))
        #expect(client.evidence?.contains("\n") == false)
    }

    @Test func `TLS that cannot be trusted is found once`() async throws {
        let outcomes = try await outcomes(failing: .upstreamUntrusted)
        #expect(outcomes["tls"]?.state == .failed && outcomes["discovery"]?.state == .skipped)
    }

    @Test func `the document is fetched once for all checks`() async throws {
        let world = World()
        _ = try await outcomes(of: world)
        #expect(world.service.requests(to: World.discoveryURL).count == 1)
        let probe = try #require(world.service.requests(to: "https://id.example/token").first)
        #expect(probe.form?["grant_type"] == "authorization_code")
        #expect(probe.form?["redirect_uri"] == "https://gate.example/back")
        #expect((43...128).contains(probe.form?["code_verifier"]?.utf8.count ?? 0))
    }

    @Test func `evidence of the service is cut, and has no control characters`() async throws {
        let world = World(
            discovery: World.discovery.with([
                "issuer": .string("https://id.example/\u{202E}\u{7}" + String(repeating: "x", count: 1000))
            ]))
        let issuer = try #require(try await outcomes(of: world)["issuer"])
        #expect(issuer.state == .failed && issuer.evidence?.unicodeScalars.count == 300)
        #expect(issuer.evidence?.unicodeScalars.contains { ["\u{202E}", "\u{7}"].contains($0) } == false)
    }

    @Test func `every finding has a sentence and a remedy`() {
        for finding in ProviderFinding.allCases {
            #expect(finding.sentence.hasSuffix(".") && finding.remedy.hasSuffix("."), "\(finding)")
        }
        #expect(Set(ProviderFinding.allCases.map(\.sentence)).count == ProviderFinding.allCases.count)
    }
}

/// Calls the scripted service on behalf of an administrator.
private struct Probe: ServiceProbing {
    let service: ScriptedService
    let headers: [String: String]
    let failure: ProviderFinding?

    func fetch(_ request: FetchRequest) async throws(ProviderFinding) -> FetchResponse {
        if let failure { throw failure }
        do {
            let response = try await service.fetch(request)
            return FetchResponse(
                status: response.status, headers: response.headers.merging(headers) { $1 }, body: response.body)
        } catch {
            throw .upstreamUnreachable
        }
    }

    func resolve(_ url: String) {}
}
