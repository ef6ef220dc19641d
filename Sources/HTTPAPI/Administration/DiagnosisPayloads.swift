package import Administration
internal import ProviderKit

struct CandidateBody: RequestPayload {
    let name, kind: String
    /// The keys of the provider in the configuration.
    let settings: JSONValue

    static let fields = RequestFields(
        Self.init, .init("name"), .init("kind"), .init("settings", .dictionary(of: .any)))
}

struct DiagnosisResponse: ResponsePayload {
    let checks: [CheckResult]

    static let fields = ResponseFields<Self>("Diagnosis") { Field("checks", \.checks) }
}

/// The results of the checks of a provider that is not configured yet, and how to configure it.
struct CandidateResponse: ResponsePayload {
    let candidate: ProviderCandidate
    let checks: [CheckResult]

    static let fields = ResponseFields<Self>("ProviderCandidate") {
        Field("checks", \.checks)
        Field("callbackURL", orNull: \.candidate.callbackURL)
        Field("yaml", \.candidate.yaml)
    }
}

extension CheckResult: ResponsePayload {
    package static let fields = ResponseFields<Self>("ProviderCheck") {
        Field("id", \.id)
        Field("state", as: .choice(of: CheckOutcome.State.self), \.outcome.state.rawValue)
        Field("sentence", \.outcome.sentence)
        Field("remedy", orNull: \.outcome.remedy)
        Field("evidence", orNull: \.outcome.evidence)
    }
}
