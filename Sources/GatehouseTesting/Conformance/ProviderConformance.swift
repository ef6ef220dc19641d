public import Foundation
public import ProviderKit
internal import Tokens

/// Tests any provider with one call.
///
/// The settings are parsed and signatures are verified by the server's own code. The service behind the provider is a
/// `ScriptedService`, which can be made to fail.
public enum ProviderConformance {
    /// The redirect flow of the callbacks in fixtures; ID tokens must contain its nonce.
    public static let flow = RedirectFlow(
        state: "conformance-state", nonce: "conformance-nonce",
        codeVerifier: "conformance-verifier-conformance-verifier-conformance",
        callbackURL: "https://id.example/api/v1/auth/oauth/subject/callback")

    /// Tests a provider with its fixtures.
    /// - Throws: `ConformanceFailure` with all failures.
    public static func check<P: Provider>(_ type: P.Type, _ fixtures: ProviderFixtures) async throws {
        let failures = await failures(of: type, fixtures)
        guard failures.isEmpty else { throw ConformanceFailure(lines: failures) }
    }

    /// Returns all failures of a provider; empty if it conforms.
    public static func failures<P: Provider>(of type: P.Type, _ fixtures: ProviderFixtures) async -> [String] {
        var examination = Examination(type, fixtures)
        examination.examineDeclaration()
        examination.examineSettings()
        await examination.examineProofs()
        await examination.examineGarbage()
        await examination.examineEvents()
        await examination.examineOutages()
        return examination.failures
    }
}

/// The error for a provider that does not conform.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The failures, one for each line.
    public let lines: [String]

    /// All failures as text.
    public var description: String { "the provider does not conform:\n" + lines.joined(separator: "\n") }
}

/// Ports for testing a provider: the server's own token verification, and a service that the test supplies.
public enum ConformancePorts {
    /// Creates ports with a service and a clock.
    public static func make(http: any HTTPFetching, now: @escaping @Sendable () -> Date = { Date() }) -> ProviderPorts {
        ProviderPorts(
            http: http, tokens: UpstreamTokenVerifier(http: http, now: now), signer: UpstreamTokenSigner(), now: now)
    }
}
