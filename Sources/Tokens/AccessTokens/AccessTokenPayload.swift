import Accounts
import Foundation
import ProviderKit

/// The claims of an access token, with their names in the token (RFC 7519 section 4.1, OpenID Connect Core 5.1).
struct AccessTokenPayload: Decodable {
    let iss, sub, jti: String
    let aud: Audience
    let iat, exp: Int
    /// The session and its account; a token of an OpenID client that is not for accounts lacks some of these.
    let sid, uid, provider, providerUid: String?
    let authTime: Int?
    let amr: [String]?
    /// Of an OpenID client (RFC 9068, 2.2).
    let clientID, scope: String?
    /// The session's generation; absent if it is 0.
    let gen: Int32?
    /// Whether the session is borrowed; absent if it is not.
    let borrowed: Bool?
    let email, phone: String?
    let emailVerified, phoneVerified: Bool?

    enum CodingKeys: String, CodingKey {
        case iss, aud, sub, iat, exp, jti, sid, amr, gen, borrowed, uid, provider, providerUid, email, phone, scope
        case clientID = "client_id"
        case authTime = "auth_time"
        case emailVerified = "email_verified"
        case phoneVerified = "phone_verified"
    }

    /// One audience, or several.
    enum Audience: Decodable {
        case one(String), several([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                self = .one(one)
            } else {
                self = .several(try container.decode([String].self))
            }
        }
    }

    /// Whether the token is the API's own, or one of a client that has the scope `account`.
    var isForAccounts: Bool {
        clientID == nil || scope?.split(separator: " ").contains { $0.hasSameBytes(as: "account") } == true
    }

    /// `nil` if a claim is missing, an id is not a UUID, or the token is for another audience.
    ///
    /// A token of the API itself has one audience, and its `sub` is its `uid`.
    func claims(for audience: String) -> AccessTokenClaims? {
        guard let uid, let sid, let provider, let providerUid, let authTime, let amr, clientID != nil || sub == uid,
            let account = UUID(uuidString: uid), let session = UUID(uuidString: sid), let token = UUID(uuidString: jti)
        else { return nil }
        let audiences: [String] =
            switch aud {
            case .one(let one): [one]
            case .several(let several): clientID == nil ? [] : several
            }
        guard let named = audiences.first(where: { $0.hasSameBytes(as: audience) }) else { return nil }
        var claims = AccessTokenClaims(
            issuer: iss, audience: named, uid: account, sessionID: session, tokenID: token, issuedAt: iat,
            expiresAt: exp, authenticatedAt: authTime, methods: amr, generation: gen ?? 0, provider: provider,
            providerUid: providerUid, email: email, emailVerified: emailVerified, phone: phone,
            phoneVerified: phoneVerified)
        (claims.isBorrowed, claims.isOfClient) = (borrowed ?? false, clientID != nil)
        return claims
    }
}

extension AccessTokenClaims {
    /// Claims that only the server may set, in addition to those of `AccessTokenPayload`.
    private static let reserved: Set = ["nbf", "scope", "client_id", "cnf", "act", "roles", "claims"]

    var payload: [UInt8] {
        typealias Name = AccessTokenPayload.CodingKeys
        var writer = JSONObjectWriter()
        writer.add(Name.iss, issuer)
        writer.add(Name.aud, audience)
        writer.add(Name.sub, uid.text)
        writer.add(Name.iat, issuedAt)
        writer.add(Name.exp, expiresAt)
        writer.add(Name.jti, tokenID.text)
        writer.add(Name.sid, sessionID.text)
        writer.add(Name.authTime, authenticatedAt)
        writer.add(Name.amr, methods)
        if generation != 0 { writer.add(Name.gen, Int(generation)) }
        if isBorrowed { writer.add(Name.borrowed, true) }
        writer.add(Name.uid, uid.text)
        writer.add(Name.provider, provider)
        writer.add(Name.providerUid, providerUid)
        if let email { writer.add(Name.email, email) }
        if let emailVerified { writer.add(Name.emailVerified, emailVerified) }
        if let phone { writer.add(Name.phone, phone) }
        if let phoneVerified { writer.add(Name.phoneVerified, phoneVerified) }
        for (name, value) in access.tokenMembers { writer.add(name, value) }
        for (name, value) in exposed where Name(stringValue: name) == nil && !Self.reserved.contains(name) {
            writer.add(name, value)
        }
        return writer.finished()
    }
}
