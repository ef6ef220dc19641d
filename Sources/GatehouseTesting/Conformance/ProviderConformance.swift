public import ProviderKit

/// One call tests any provider.
///
/// Settings are read as the server reads them, proofs are checked with the server's own checks of signatures, and the
/// service behind the provider is a script that can fail. What comes out is a list of lines for a person; a test has
/// only to call `check`.
public enum ProviderConformance {
    /// The flow that callbacks in fixtures belong to; tokens of it carry this nonce.
    public static let flow = RedirectFlow(
        state: "conformance-state", nonce: "conformance-nonce",
        codeVerifier: "conformance-verifier-conformance-verifier-conformance",
        callbackURL: "https://id.example/api/v1/auth/oauth/subject/callback")

    /// - Throws: `ConformanceFailure` with everything that is wrong.
    public static func check<P: Provider>(_ type: P.Type, _ fixtures: ProviderFixtures) async throws {
        let failures = await failures(of: type, fixtures)
        guard failures.isEmpty else { throw ConformanceFailure(lines: failures) }
    }

    /// Everything that is wrong with a provider; empty for one that conforms.
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

/// A provider does not conform.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// One for each thing that is wrong.
    public let lines: [String]

    /// The lines below each other.
    public var description: String { "the provider does not conform:\n" + lines.joined(separator: "\n") }
}
