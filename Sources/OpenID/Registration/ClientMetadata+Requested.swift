internal import Accounts
internal import Foundation
internal import ProviderKit

extension ClientMetadata {
    /// The largest size of the metadata in bytes of JSON, since every registration is stored.
    private static let largest = 16 << 10
    /// The greatest number of redirect URIs, or of values of another list.
    fileprivate static let mostValues = 32

    /// Checks the metadata that a client sends; absent members get the defaults of RFC 7591.
    /// - Throws: `invalid_redirect_uri` for a redirect URI, `invalid_client_metadata` for other members.
    init(
        requested members: [String: JSONValue], at issuer: Issuer, checkingKeysBy verifier: any TokenVerifying
    ) throws(OAuthError) {
        let sent = SentMembers(members)
        redirectURIs = try sent.redirectURIs(.redirectURIs) ?? []
        guard !redirectURIs.isEmpty else { throw .invalidRedirectURI(.redirectURIs) }
        grants = try sent.choices(.grants) ?? [.authorizationCode]
        guard grants.contains(.authorizationCode), Self.grants.isSuperset(of: grants) else {
            throw .invalidMetadata(.grants)
        }
        guard try sent.texts(.responseTypes)?.allSatisfy({ $0.hasSameBytes(as: "code") }) ?? true else {
            throw .invalidMetadata(.responseTypes)
        }
        scope = try sent.scope(within: issuer.settings.registration.scopes.inOrder)
        authenticationMethod = try sent.choice(.authenticationMethod) ?? .secretBasic
        subjectType = try sent.choice(.subjectType) ?? .public
        applicationType = try sent.choice(.applicationType) ?? .web
        try addKeys(sent, checkedBy: verifier, at: issuer)
        try addTexts(sent, at: issuer)
        if let age = sent[.defaultMaxAge] {
            guard let age = age.integer, (0...31_536_000).contains(age) else { throw .invalidMetadata(.defaultMaxAge) }
            defaultMaxAge = Int(age)
        }
        requiresAuthenticationTime = try sent.flag(.requiresAuthenticationTime)
        requiresLogoutSession = try sent.flag(.requiresLogoutSession)
        defaultLevels = try sent.texts(.defaultLevels)
        postLogoutRedirectURIs = try sent.redirectURIs(.postLogoutRedirectURIs)
        guard subjectType == .public || redirectURIs.compactMap({ try? ClientRedirectURI($0) }).sector != nil else {
            throw OAuthError(.invalidClientMetadata, "Pairwise subjects need redirect_uris of one host")
        }
        guard let json = try? JSONEncoder.stable.encode(self), json.count <= Self.largest else {
            throw OAuthError(.invalidClientMetadata, "The metadata is larger than \(Self.largest) bytes")
        }
    }

    /// What clients that register themselves may use at the token endpoint.
    private static let grants: Set<OAuthClient.Grant> = [.authorizationCode, .refreshToken]

    private mutating func addTexts(_ sent: SentMembers, at issuer: Issuer) throws(OAuthError) {
        name = try sent.text(.name).flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        if let name, !name.isShowable(upTo: 60) { throw .invalidMetadata(.name) }
        uri = try sent.url(.uri)
        logo = try sent.url(.logo)
        policyURI = try sent.url(.policyURI)
        tosURI = try sent.url(.tosURI)
        backchannelLogoutURI = try sent.url(.backchannelLogoutURI, allowingPlainHTTP: issuer.allowsPlainHTTP)
        identityTokenAlgorithm = try sent.text(.identityTokenAlgorithm)
        guard identityTokenAlgorithm?.hasSameBytes(as: issuer.application.policy.tokens.algorithm.rawValue) ?? true
        else { throw .invalidMetadata(.identityTokenAlgorithm) }
    }

    private mutating func addKeys(
        _ sent: SentMembers, checkedBy verifier: any TokenVerifying, at issuer: Issuer
    ) throws(OAuthError) {
        assertionAlgorithm = try sent.text(.assertionAlgorithm)
        if let assertionAlgorithm {
            let known = ClientAuthentication.algorithms.contains { $0.rawValue.hasSameBytes(as: assertionAlgorithm) }
            guard known else { throw .invalidMetadata(.assertionAlgorithm) }
        }
        keys = sent[.keys]
        keysURL = try sent.url(.keysURL, allowingPlainHTTP: issuer.allowsPlainHTTP)
        guard keys == nil || keysURL == nil else {
            throw OAuthError(.invalidClientMetadata, "jwks and jwks_uri exclude each other")
        }
        if let keys {
            let secrets = keys["keys"].array?.contains { !$0["d"].isNull || !$0["k"].isNull }
            guard secrets == false else { throw .invalidMetadata(.keys) }
        }
        guard authenticationMethod == .privateKey else { return }
        guard let tokenKeys else { throw OAuthError(.invalidClientMetadata, "private_key_jwt needs jwks or jwks_uri") }
        guard (try? verifier.check(tokenKeys)) != nil else { throw .invalidMetadata(.keys) }
    }
}

/// The members that a client sends; an absent one and `null` are the same.
private struct SentMembers {
    private let members: [String: JSONValue]

    init(_ members: [String: JSONValue]) { self.members = members }

    subscript(key: ClientMetadata.CodingKeys) -> JSONValue? {
        members[key.rawValue].flatMap { $0.isNull ? nil : $0 }
    }

    func text(_ key: ClientMetadata.CodingKeys) throws(OAuthError) -> String? {
        guard let value = self[key] else { return nil }
        guard let text = value.string else { throw .invalidMetadata(key) }
        return text
    }

    func flag(_ key: ClientMetadata.CodingKeys) throws(OAuthError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let flag = value.bool else { throw .invalidMetadata(key) }
        return flag
    }

    /// A list of at least one text.
    func texts(_ key: ClientMetadata.CodingKeys) throws(OAuthError) -> [String]? {
        guard let value = self[key] else { return nil }
        guard let items = value.array, (1...ClientMetadata.mostValues).contains(items.count) else {
            throw .invalidMetadata(key)
        }
        let texts = items.compactMap(\.string)
        guard texts.count == items.count else { throw .invalidMetadata(key) }
        return texts
    }

    func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ key: ClientMetadata.CodingKeys
    ) throws(OAuthError) -> Value? {
        guard let text = try text(key) else { return nil }
        guard let value = Value(bytesOf: text) else { throw .invalidMetadata(key) }
        return value
    }

    func choices<Value: RawRepresentable<String> & CaseIterable>(
        _ key: ClientMetadata.CodingKeys
    ) throws(OAuthError) -> [Value]? {
        guard let texts = try texts(key) else { return nil }
        let values = texts.compactMap { Value(bytesOf: $0) }
        guard values.count == texts.count else { throw .invalidMetadata(key) }
        return values
    }

    func redirectURIs(_ key: ClientMetadata.CodingKeys) throws(OAuthError) -> [String]? {
        guard let texts = try? texts(key) else {
            guard self[key] == nil else { throw .invalidRedirectURI(key) }
            return nil
        }
        guard texts.allSatisfy({ (try? ClientRedirectURI($0)) != nil }) else { throw .invalidRedirectURI(key) }
        return texts
    }

    func url(_ key: ClientMetadata.CodingKeys, allowingPlainHTTP: Bool = false) throws(OAuthError) -> String? {
        guard let text = try text(key) else { return nil }
        guard text.isWebURL(allowingPlainHTTP: allowingPlainHTTP) else { throw .invalidMetadata(key) }
        return text
    }

    /// Those of the allowed scopes that are asked for; all of them if none is.
    func scope(within allowed: [String]) throws(OAuthError) -> String {
        let words = try text(.scope)?.spacedWords.filter { allowed.containsBytes(of: $0) } ?? allowed
        guard !words.isEmpty else { throw .invalidMetadata(.scope) }
        return words.joined(separator: " ")
    }
}

extension OAuthError {
    fileprivate static func invalidMetadata(_ key: ClientMetadata.CodingKeys) -> OAuthError {
        OAuthError(.invalidClientMetadata, "\(key.rawValue) has a value that is not supported")
    }

    fileprivate static func invalidRedirectURI(_ key: ClientMetadata.CodingKeys) -> OAuthError {
        OAuthError(.invalidRedirectURI, "\(key.rawValue) is missing, or has a URI that cannot be registered")
    }
}

extension Issuer {
    /// Whether clients may be called without TLS: where the issuer's own URL is without TLS.
    ///
    /// Outside development, the configuration refuses that for an application's `publicURL`, but not for the server's.
    fileprivate var allowsPlainHTTP: Bool { !application.isSecure }
}

extension String {
    /// Whether pages can show the text as a name: it has up to `limit` code points, and none that changes the layout.
    func isShowable(upTo limit: Int) -> Bool {
        unicodeScalars.count <= limit
            && unicodeScalars.allSatisfy { scalar in
                let properties = scalar.properties
                return !properties.isBidiControl
                    && ![.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
            }
    }

    /// Whether the text is an absolute URL without user and fragment.
    fileprivate func isWebURL(allowingPlainHTTP: Bool) -> Bool {
        guard hasCharactersOfURL, let url = URLComponents(string: self, encodingInvalidCharacters: false),
            url.host?.isEmpty == false, url.user == nil, url.password == nil, url.fragment == nil
        else { return false }
        return url.scheme == "https" || allowingPlainHTTP && url.scheme == "http"
    }
}
