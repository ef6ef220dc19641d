public import Foundation
public import ProviderKit

/// The input of the conformance kit: good and bad settings, proofs and events.
public struct ProviderFixtures: Sendable {
    /// Valid settings, in the form of a configuration file.
    public var settings: [String: JSONValue]
    /// Settings that must be refused.
    public var brokenSettings: [BrokenSettings] = []
    /// The service behind the provider, if there is one.
    public var service: ScriptedService
    /// The time of the provider's clock, which is fixed so that tests can sign tokens for it.
    public var now: Date
    /// Proofs that must be accepted.
    public var proofs: [GoodProof] = []
    /// Proofs that must be refused, each with a name for the report.
    public var badProofs: [(name: String, proof: ProviderProof)] = []
    /// Signed events that a `NotifyingProvider` must accept.
    public var events: [GoodEvent] = []
    /// Payloads of events that must be refused, each with a name for the report.
    public var badEvents: [(name: String, payload: String)] = []
    /// Tokens that a `RevokingProvider` must revoke.
    public var tokens: ProviderTokens?

    /// Creates fixtures; the default time is 2027-01-15 08:00 UTC.
    public init(
        settings: [String: JSONValue] = [:], service: ScriptedService = ScriptedService(),
        now: Date = Date(timeIntervalSince1970: 1_800_000_000)
    ) {
        self.settings = settings
        self.service = service
        self.now = now
    }
}

/// Settings that must be refused.
public struct BrokenSettings: Sendable {
    /// The changes to the good settings; `.null` removes a setting.
    public let changes: [String: JSONValue]
    /// The setting that the error must name.
    public let blamed: String

    /// Creates changed settings and names the setting that the error must name.
    public init(_ changes: [String: JSONValue], blames blamed: String) {
        self.changes = changes
        self.blamed = blamed
    }
}

/// A proof in the form in which a provider receives it.
public enum ProviderProof: Sendable {
    /// The body of a `DirectProvider`'s route.
    case credential(JSONValue, from: RequestOrigin = RequestOrigin(peer: "192.0.2.1"))
    /// A token for a `NativeTokenProvider`.
    case native(NativeToken)
    /// The callback of a `RedirectProvider`; the flow is `ProviderConformance.flow`.
    case callback([String: String])
}

/// A proof that must be accepted.
public struct GoodProof: Sendable {
    /// The expected result if the provider could never reach its service.
    public enum Offline: Sendable {
        /// The provider throws `ProviderError.unavailable`.
        case unavailable
        /// The provider accepts the proof as if the service were reachable.
        case works
    }

    /// The proof.
    public let proof: ProviderProof
    /// The id of the person that the proof is for; `nil` if each use creates a new person.
    public let providerUid: String?
    /// The expected result if the service cannot be reached.
    public let offline: Offline

    /// Creates a proof for one person.
    public init(_ proof: ProviderProof, of providerUid: String?, offline: Offline) {
        self.proof = proof
        self.providerUid = providerUid
        self.offline = offline
    }
}

/// An event that must be accepted.
public struct GoodEvent: Sendable {
    /// The signed payload.
    public let payload: String
    /// The change that the event announces; `nil` if the provider must ignore the event.
    public let change: ProviderEvent.Change?
    /// The id of the person that the event is about.
    public let providerUid: String

    /// Creates an event about one person.
    public init(_ payload: String, says change: ProviderEvent.Change?, of providerUid: String) {
        self.payload = payload
        self.change = change
        self.providerUid = providerUid
    }
}
