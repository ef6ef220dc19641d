package import Foundation
package import ProviderKit

/// What a trial of a provider has led to.
package struct TrialOutcome: Sendable, Equatable, Codable {
    /// Why there is no evidence.
    package struct Failure: Sendable, Equatable, Codable {
        /// An error code of RFC 6749, 4.1.2.1, or the provider's own.
        package let code: String
        package let sentence: String?
    }

    /// What has become of the service's tokens, which are never stored.
    package enum Tokens: String, Sendable, Codable {
        /// The service has sent none that stay valid.
        case none
        case givenBack
        /// The service did not take them back, so they are valid until they expire.
        case notGivenBack
    }

    /// The evidence without tokens, with every claim of the service as its profile.
    package var evidence: VerifiedIdentity?
    package var failure: Failure?
    /// What was noted of the provider during the trial.
    package var findings: [ProviderFinding] = []
    package var tokens = Tokens.none
    /// How long it took until the browser came back; `nil` if it was not sent to the provider.
    package var away: Duration?
    /// How long the provider took to make evidence of the response, and to take its tokens back.
    package var completion: Duration?
    package var revocation: Duration?
}

extension TrialOutcome.Failure {
    init(_ error: any Error) {
        if case ProviderError.malformed(let field, let reason) = error {
            // The settings of the provider lack something, since there is no input of a person.
            self.init(code: "server_error", sentence: "\(field) \(reason)")
        } else {
            let error = FlowError(error)
            self.init(code: error.code, sentence: error.sentence)
        }
    }
}

/// A trial that begins: its flow, which is not stored yet, and the way to the provider's pages; or why there is none.
package enum PreparedTrial: Sendable {
    case ready(NewRedirectFlow, AuthorizationRedirect)
    case failed(TrialOutcome)
}

/// A stored outcome, and the session that may read it.
package struct StoredTrial: Sendable {
    /// The session at the console's OpenID client that began the trial.
    package let session: UUID?
    package let provider: String
    package let outcome: TrialOutcome

    package init(session: UUID?, provider: String, outcome: TrialOutcome) {
        (self.session, self.provider, self.outcome) = (session, provider, outcome)
    }
}

/// Stores what trials have led to, until the console shows it.
package protocol TrialStore: Sendable {
    /// Seals and stores the outcome of a flow whose callback has arrived.
    func keep(
        _ outcome: TrialOutcome, under code: OpaqueToken, state: [UInt8], lifetime: Duration,
        application: Application.ID) async throws

    /// Deletes the flow of the code and returns its outcome, which can be read only once.
    /// - Returns: `nil` if the code is unknown or expired, or that of a flow that is no trial.
    func takeTrial(_ code: [UInt8], application: Application.ID) async throws -> StoredTrial?
}
