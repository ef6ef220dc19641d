import Foundation
import ProviderKit
import Synchronization

/// A provider that accepts every proof: a proof is the encoded evidence itself, so that tests of later steps need no
/// provider.
struct ScriptedProvider: DirectProvider, RedirectProvider, NativeTokenProvider, NotifyingProvider, RevokingProvider {
    struct Settings: ProviderSettings {
        static let schema = SettingsSchema([])
    }

    struct Credential: RequestPayload {
        let proof: String

        static let fields = RequestFields(Self.init, .init("proof"))
    }

    static let kind = "scripted"
    static let displayName = "Scripted"
    static let flow = ProviderFlow.redirect
    static let exposesClaims = true

    /// The page that the browser is redirected to.
    static let page = "https://scripted.example/authorize"

    let forwardedParameters = ["login_hint"]

    init(settings: Settings, context: ProviderContext) {}

    func verify(_ credential: Credential, from origin: RequestOrigin) throws -> VerifiedIdentity {
        try Self.evidence(in: credential.proof)
    }

    func verify(_ token: NativeToken) throws -> VerifiedIdentity {
        try Self.evidence(in: token.idToken)
    }

    func authorizationURL(for flow: RedirectFlow) -> String {
        Self.page.addingQuery([
            "state": flow.state, "nonce": flow.nonce, "challenge": flow.codeChallenge, "callback": flow.callbackURL,
            "prompt": flow.requiresFreshLogin ? "login" : nil, "login_hint": flow.parameters["login_hint"],
        ])
    }

    /// Accepts the code as the proof, together with the nonce and the code verifier of this flow.
    ///
    /// With `time=begin` it acts as a provider that never states when a person authenticated.
    func complete(_ callback: RedirectCallback, of flow: RedirectFlow) throws -> VerifiedIdentity {
        guard callback["nonce"] == nil || callback["nonce"] == flow.nonce,
            callback["challenge"] == nil || callback["challenge"] == flow.codeChallenge
        else { throw ProviderError.refused }
        var evidence = try Self.evidence(in: callback["code"] ?? "")
        if callback["time"] == "begin" { evidence.authenticatedAt = flow.beganAt }
        return evidence
    }

    func event(in payload: String) throws -> ProviderEvent? {
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(payload.utf8))
        guard let subject = json["sub"].string, let id = json["jti"].string else { throw ProviderError.refused }
        let change: ProviderEvent.Change
        switch json["type"].string {
        case "consent-revoked": change = .consentRevoked
        case "account-deleted": change = .accountDeleted
        case "forwarding":
            guard let address = json["email"].string.flatMap({ EmailAddress($0) }), let isOn = json["on"].bool else {
                throw ProviderError.refused
            }
            change = .forwarding(address, isOn: isOn)
        default: return nil
        }
        return ProviderEvent(
            change: change, providerUid: subject, occurredAt: json["at"].date ?? Date(),
            singleUse: SingleUse(id: id, expires: Date() + 3600))
    }

    /// Refresh tokens that were revoked, by all servers of the process.
    static let revoked = Mutex<[String]>([])
    /// Refresh tokens for which revocation currently fails.
    static let refused = Mutex<Set<String>>([])

    func revoke(_ tokens: ProviderTokens) throws {
        let token = tokens.refreshToken ?? ""
        guard !Self.refused.withLock({ $0.contains(token) }) else { throw ProviderError.unavailable }
        Self.revoked.withLock { $0.append(token) }
    }

    private static func evidence(in proof: String) throws -> VerifiedIdentity {
        switch proof {
        case "refused": throw ProviderError.refused
        case "unavailable": throw ProviderError.unavailable
        case "malformed": throw ProviderError.malformed(field: "proof", reason: "is not one")
        default: break
        }
        guard let evidence = try? JSONDecoder().decode(VerifiedIdentity.self, from: Data(proof.utf8)) else {
            throw ProviderError.refused
        }
        return evidence
    }
}

extension VerifiedIdentity {
    /// Evidence about a new person.
    static func somebody(
        _ subject: String = UUID().uuidString, email: String? = nil, isVerified: Bool = true, isTrusted: Bool = true
    ) -> VerifiedIdentity {
        let claims = email.flatMap { EmailAddress($0) }.map {
            AddressClaim(address: .email($0), isVerified: isVerified, isAuthoritative: isTrusted)
        }
        return VerifiedIdentity(providerUid: subject, addresses: claims.map { [$0] } ?? [], methods: ["fed"])
    }

    /// Returns this evidence with a refresh token that the server stores.
    func holding(_ refreshToken: String) -> VerifiedIdentity {
        var evidence = self
        evidence.tokens = ProviderTokens(refreshToken: refreshToken)
        return evidence
    }

    /// Encodes the evidence as the proof that `ScriptedProvider` accepts.
    var proof: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }
}
