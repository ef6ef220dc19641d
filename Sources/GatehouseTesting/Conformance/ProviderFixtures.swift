public import Foundation
public import ProviderKit

/// What the conformance kit has to know of a provider: settings and proofs, good ones and bad ones.
public struct ProviderFixtures: Sendable {
    /// Settings that work, as they stand in configuration.
    public var settings: [String: JSONValue]
    /// Settings that don't.
    public var brokenSettings: [BrokenSettings] = []
    /// The service behind the provider, if there is one.
    public var service: ScriptedService
    /// What the provider's clock shows, so that tokens can be minted beforehand.
    public var now: Date
    /// Proofs of somebody.
    public var proofs: [GoodProof] = []
    /// Proofs of nobody, by a name for the report.
    public var badProofs: [(name: String, proof: ProviderProof)] = []
    /// Signed events that a `NotifyingProvider` takes.
    public var events: [GoodEvent] = []
    /// Payloads that are no events, by a name for the report.
    public var badEvents: [(name: String, payload: String)] = []
    /// What a `RevokingProvider` gives back.
    public var tokens: ProviderTokens?

    /// Fixtures with one moment for everything: 2027-01-15 08:00 UTC, unless another is given.
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
    /// What is different from the good settings; `.null` removes.
    public let changes: [String: JSONValue]
    /// The setting that must be named.
    public let blamed: String

    /// A change that is one setting's fault.
    public init(_ changes: [String: JSONValue], blames blamed: String) {
        self.changes = changes
        self.blamed = blamed
    }
}

/// How a proof reaches a provider.
public enum ProviderProof: Sendable {
    /// The body of a `DirectProvider`'s route.
    case credential(JSONValue, from: RequestOrigin = RequestOrigin(peer: "192.0.2.1"))
    /// For a `NativeTokenProvider`.
    case native(NativeToken)
    /// What comes back to a `RedirectProvider`; the flow is `ProviderConformance.flow`.
    case callback([String: String])
}

/// A proof that must be taken.
public struct GoodProof: Sendable {
    /// What a provider without its service can do with the proof, before it has ever reached it.
    public enum Offline: Sendable {
        /// Nothing: `ProviderError.unavailable`.
        case unavailable
        /// As much as with it.
        case works
    }

    /// The proof.
    public let proof: ProviderProof
    /// Whom it proves; `nil` where that is somebody new each time.
    public let providerUid: String?
    /// What happens when the service can't be reached.
    public let offline: Offline

    /// A proof of that subject.
    public init(_ proof: ProviderProof, of providerUid: String?, offline: Offline) {
        self.proof = proof
        self.providerUid = providerUid
        self.offline = offline
    }
}

/// An event that must be taken.
public struct GoodEvent: Sendable {
    /// What arrives.
    public let payload: String
    /// What it says; `nil` for one that means nothing here.
    public let change: ProviderEvent.Change?
    /// Whom it is about.
    public let providerUid: String

    /// An event about that subject.
    public init(_ payload: String, says change: ProviderEvent.Change?, of providerUid: String) {
        self.payload = payload
        self.change = change
        self.providerUid = providerUid
    }
}
