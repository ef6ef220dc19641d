package import Accounts
package import Administration
internal import Foundation
internal import ProviderKit

/// A question about the linking rules; `mode` and `automatic` replace the settings of the application.
struct LinkingQuestionBody: RequestPayload {
    let provider: String
    let evidence: StatedEvidence
    let asking: UUID?
    let onConflict: ConflictChoice?
    let mode: String?
    let automatic: String?

    static let fields = RequestFields(
        Self.init, .init("provider"), .init("evidence"), .init("asking"), .init("onConflict"),
        .init("mode", .choice(of: ProviderMode.self)),
        .init("automatic", .choice(of: ApplicationPolicy.AutomaticLinking.self)))

    /// - Throws: `AccountsError.invalidParameter`.
    var question: LinkingQuestion {
        get throws {
            var question = LinkingQuestion(of: provider, with: evidence)
            question.asking = asking
            question.onConflict = onConflict ?? .keep
            question.mode = try mode.map { try .chosen(by: $0, as: "mode") }
            question.automatic = try automatic.map { try .chosen(by: $0, as: "automatic") }
            return question
        }
    }
}

extension RawRepresentable<String> where Self: CaseIterable {
    /// - Throws: `AccountsError.invalidParameter` if the text is not one of the choices.
    fileprivate static func chosen(by text: String, as name: String) throws -> Self {
        guard let choice = Self(bytesOf: text) else {
            let choices = allCases.map(\.rawValue).joined(separator: ", ")
            throw AccountsError.invalidParameter(name, reason: "must be one of \(choices)")
        }
        return choice
    }
}

// MARK: - Timeline

extension TimelineEntry: ResponsePayload, NamedList {
    static let listName = "TimelinePage"

    package static let fields = ResponseFields<Self>("TimelineEntry") {
        Field("at", \.at)
        Field("event", \.event)
        Field("sentence", \.sentence)
        Field("rule", ifAny: \.rule)
        Field("actor", ifAny: \.actor)
        Field("provider", ifAny: \.provider)
        Field("details", \.details)
    }
}

// MARK: - Linking

/// The verdict on evidence, and the accounts that it concerns by their uids; addresses are left out.
extension Explanation: ResponsePayload {
    package static let fields = ResponseFields<Self>("LinkingExplanation") {
        Field("verdict", \.verdict.outcome.words)
        Field("outcome", as: .choice(of: LinkingOutcome.Name.self), \.verdict.outcome.name.rawValue)
        Field("rule", \.verdict.rule.rawValue)
        Field("sentence", \.verdict.rule.reason)
        Field("remedies", \.verdict.refusal.remedies)
        Field("identity", orNull: \.state.identity)
        Field("addresses", \.state.owners)
        Field("asking", orNull: \.state.requester)
        Field("policy", \.policy)
    }
}

extension KnownIdentity: ResponsePayload {
    package static let fields = ResponseFields<Self>("ExplainedIdentity") {
        Field("uid", \.uid)
        Field("status", \.status.words)
        Field("quarantined", \.needsOtherSignIn)
    }
}

extension AddressOwner: ResponsePayload {
    package static let fields = ResponseFields<Self>("ExplainedAddress") {
        Field("kind", \.address.kind.rawValue)
        Field("uid", \.uid)
        Field("status", \.status.words)
        Field("idle", \.isIdle)
        Field("quarantined", \.needsOtherSignIn)
    }
}

extension RequestingAccount: ResponsePayload {
    package static let fields = ResponseFields<Self>("ExplainedRequester") {
        Field("uid", \.uid)
        Field("guest", \.isGuest)
    }
}

extension LinkingPolicy: ResponsePayload {
    package static let fields = ResponseFields<Self>("ExplainedPolicy") {
        Field("mode", as: .choice(of: ProviderMode.self), \.mode.rawValue)
        Field("automatic", as: .choice(of: ApplicationPolicy.AutomaticLinking.self), \.automatic.rawValue)
        Field("onConflict", as: ConflictChoice.schema, \.onConflict.rawValue)
        Field("restoresOnSignIn", \.restoresOnSignIn)
    }
}

// MARK: - Second accounts

extension SecondAccount: ResponsePayload {
    package static let fields = ResponseFields<Self>("SecondAccount") {
        Field("verdict", \.verdict)
        Field("rule", orNull: \.rule?.rawValue)
        Field("sentence", \.reason.sentence)
        Field("then", orNull: \.then)
        Field("now", orNull: \.now)
        Field("remedies", \.reason.remedies)
    }
}

extension SecondAccount.Creation: ResponsePayload {
    package static let fields = ResponseFields<Self>("SecondAccountThen") {
        Field("at", \.at)
        Field("provider", orNull: \.provider)
        Field("rule", orNull: \.record?.rule?.rawValue)
        Field("sentence", \.sentence)
        Field("addresses") { $0.record?.addresses ?? [] }
    }
}

extension EvidenceRecord.Address: ResponsePayload {
    package static let fields = ResponseFields<Self>("RecordedAddress") {
        Field("kind", \.kind.rawValue)
        Field("verified", \.isVerified)
        Field("authoritative", \.isAuthoritative)
    }
}

extension SecondAccount.Verdict: ResponsePayload {
    package static let fields = ResponseFields<Self>("SecondAccountNow") {
        Field("verdict", \.explanation.verdict.outcome.words)
        Field("rule", \.explanation.verdict.rule.rawValue)
        Field("sentence", \.explanation.verdict.rule.reason)
        Field("addresses", \.addresses)
    }
}

extension SecondAccount.Claim: ResponsePayload {
    package static let fields = ResponseFields<Self>("OwnedAddress") {
        Field("kind", \.kind.rawValue)
        Field("verified", \.isVerified)
        Field("authoritative", \.isAuthoritative)
        // The account that owns the address today.
        Field("owner", orNull: \.owner)
    }
}
