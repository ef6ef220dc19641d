internal import ProviderKit

/// A checked authorization request (OpenID Connect Core, 3.1.2.1).
package struct ClientRequest: Sendable, Codable, Equatable {
    package enum Prompt: String, Sendable, Codable, CaseIterable {
        case none, login, consent
        case selectAccount = "select_account"
        case create
    }

    package var clientID: String
    package var returnAddress: ReturnAddress
    /// The scopes that were asked for and that the client may have.
    package var scopes: [String]
    package var resources: [String] = []
    package var codeChallenge, nonce: String?
    package var prompts: Set<Prompt> = []
    /// The largest age of the authentication in seconds.
    package var maxAge: Int?
    /// The subject, as the client knows it, that an ID token or `claims` names; no other account may sign in.
    package var subject: String?
    package var loginHint: String?
    package var locales: [String] = []
    package var claims = RequestedClaims()
    /// The provider whose pages the person is sent to at once, where a sign-in is needed.
    package var provider: String?
    /// The provider of which the account pages link an identity to the account named `subject`.
    package var linksProvider: String?
    /// The code of a device that its page fills in, as the URL has it.
    package var userCode: String?
    /// Whether the app that takes over the sign-in asks for a short session; `nil` for `false`.
    package var opensShortSession: Bool?

    package init(clientID: String, returnAddress: ReturnAddress, scopes: [String]) {
        (self.clientID, self.returnAddress, self.scopes) = (clientID, returnAddress, scopes)
    }

    /// The address that `login_hint` names; `nil` if the hint is none, and therefore only fills in the page.
    var hintedAddress: Address? { loginHint.flatMap(Address.init(typed:)) }

    package var isSilent: Bool { prompts.contains(.none) }

    /// Whether a new request asks the person in any case, whatever sessions the browser has.
    package var alwaysAsks: Bool {
        !isSilent && (maxAge == 0 || !prompts.isDisjoint(with: [.login, .create, .selectAccount]))
    }

    /// The scopes for which a third-party client needs consent, also those of single claims.
    package var consentScopes: Set<String> { Set(scopes).union(claims.scopes) }
}

/// Where the answer to an authorization request goes.
package struct ReturnAddress: Sendable, Codable, Equatable {
    package enum Mode: String, Sendable, Codable, CaseIterable {
        case query
        case formPost = "form_post"
    }

    package var redirectURI: String
    package var mode = Mode.query
    package var state: String?

    package init(redirectURI: String) { self.redirectURI = redirectURI }
}

/// The claims that a request asks for by name (OpenID Connect Core, 5.5).
package struct RequestedClaims: Sendable, Codable, Equatable {
    package var identityToken: [String] = []
    package var userInfo: [String] = []
    /// The values of an essential `acr`.
    package var essentialLevels: [String]?

    package init() {}

    /// The scopes that the claims belong to.
    package var scopes: Set<String> {
        Set((identityToken + userInfo).compactMap { name in Self.scope(of: name)?.rawValue })
    }

    /// The claims that can be asked for by name, with their scopes.
    package static let scopeOfEach: [(claim: String, scope: StandardScope)] = [
        ("name", .profile), ("locale", .profile), ("updated_at", .profile), ("email", .email),
        ("email_verified", .email), ("phone_number", .phone), ("phone_number_verified", .phone),
    ]

    static func scope(of claim: String) -> StandardScope? {
        scopeOfEach.first { $0.claim.hasSameBytes(as: claim) }?.scope
    }
}

extension Address {
    /// The address that a person or a client has typed; `nil` if the text is none.
    init?(typed text: String) {
        guard let address = EmailAddress(text).map({ Address.email($0) }) ?? PhoneNumber(text).map({ .phone($0) })
        else { return nil }
        self = address
    }
}
