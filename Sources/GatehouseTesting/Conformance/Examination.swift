internal import Foundation
internal import ProviderKit

/// One run of the conformance kit for one provider.
struct Examination<P: Provider> {
    /// The longest time that a call may take; calls are fast because there is no network.
    static var patience: Duration { .seconds(10) }

    let fixtures: ProviderFixtures
    private(set) var failures: [String] = []

    init(_ type: P.Type, _ fixtures: ProviderFixtures) { self.fixtures = fixtures }

    mutating func expect(_ isRight: Bool, _ failure: @autoclosure () -> String) {
        if !isRight { failures.append("\(P.kind): \(failure())") }
    }

    /// Creates the provider as a server does, and reports problems of its settings.
    mutating func provider() -> P? {
        let (provider, problems) = ConfiguredSubject.provider(P.self, settings: fixtures.settings, fixtures)
        for problem in problems { expect(false, "good settings are refused: \(problem.line)") }
        return provider
    }

    // MARK: - Calls

    /// The result of presenting a proof.
    enum Outcome {
        case identity(VerifiedIdentity)
        case error(any Error)
        /// The body does not decode, so the server would refuse it before it calls the provider.
        case undecodable
    }

    func outcome(of proof: ProviderProof, at provider: P) async -> Outcome {
        do {
            switch proof {
            case .credential(let body, let origin):
                guard let direct = provider as? any DirectProvider else { throw Misfit.proof }
                return try await Self.verify(body, from: origin, at: direct)
            case .native(let token):
                guard let native = provider as? any NativeTokenProvider else { throw Misfit.proof }
                return .identity(try await native.verify(token))
            case .callback(let parameters):
                guard let redirect = provider as? any RedirectProvider else { throw Misfit.proof }
                let callback = RedirectCallback(parameters: parameters)
                return .identity(try await redirect.complete(callback, of: ProviderConformance.flow))
            }
        } catch {
            return .error(error)
        }
    }

    private static func verify<Direct: DirectProvider>(
        _ body: JSONValue, from origin: RequestOrigin, at provider: Direct
    ) async throws -> Outcome {
        guard let credential = try? JSONDecoder().decode(Direct.Credential.self, from: Data(body.text.utf8)) else {
            return .undecodable
        }
        return .identity(try await provider.verify(credential, from: origin))
    }

    /// Checks that an error is a `ProviderError` and contains no secret.
    mutating func examine(_ error: any Error, _ what: String) {
        guard error is ProviderError else {
            expect(false, "\(what) gives \(Swift.type(of: error)), which is no ProviderError")
            return
        }
        let text = "\(error)"
        expect(!secrets.contains { text.contains($0) }, "\(what) gives an error that repeats a secret")
    }

    /// All lines of the secrets in the good settings.
    var secrets: [String] {
        P.Settings.schema.fields.filter { $0.form == .secret }
            .compactMap { fixtures.settings[$0.name]?.string }
            .flatMap { $0.split(separator: "\n").map(String.init) }
            .filter { $0.count > 3 && !$0.hasPrefix("-----") }
    }
}

/// The error for a fixture that does not fit the provider.
enum Misfit: Error { case proof }
