internal import Foundation
internal import ProviderKit

/// One run over one provider.
struct Examination<P: Provider> {
    /// Longer than any answer takes here, where nothing goes through a network.
    static var patience: Duration { .seconds(10) }

    let fixtures: ProviderFixtures
    private(set) var failures: [String] = []

    init(_ type: P.Type, _ fixtures: ProviderFixtures) {
        self.fixtures = fixtures
    }

    mutating func expect(_ isRight: Bool, _ failure: @autoclosure () -> String) {
        if !isRight { failures.append("\(P.kind): \(failure())") }
    }

    /// The provider as a server would have it; what is wrong with the settings is reported.
    mutating func provider() -> P? {
        let (provider, problems) = ConfiguredSubject.provider(P.self, settings: fixtures.settings, fixtures)
        for problem in problems { expect(false, "good settings are refused: \(problem.line)") }
        return provider
    }

    // MARK: - Calls

    /// What became of a proof.
    enum Outcome {
        case identity(VerifiedIdentity)
        case error(any Error)
        /// The body isn't even one of this provider: the server refuses it by itself.
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

    /// Whether an error is one that a provider may have, and tells nothing that must not be told.
    mutating func examine(_ error: any Error, _ what: String) {
        guard error is ProviderError else {
            expect(false, "\(what) gives \(Swift.type(of: error)), which is no ProviderError")
            return
        }
        let text = "\(error)"
        expect(!secrets.contains { text.contains($0) }, "\(what) gives an error that repeats a secret")
    }

    /// Everything in the good settings that must never be shown, line by line.
    var secrets: [String] {
        P.Settings.schema.fields.filter { $0.form == .secret }
            .compactMap { fixtures.settings[$0.name]?.string }
            .flatMap { $0.split(separator: "\n").map(String.init) }
            .filter { $0.count > 3 && !$0.hasPrefix("-----") }
    }
}

/// A fixture that its provider has no use for.
enum Misfit: Error {
    case proof
}
