import Accounts
import Foundation
import ProviderKit

/// The claims as they stand in the token (RFC 7519 section 4.1, OpenID Connect Core section 5.1).
struct AccessTokenPayload: Decodable {
    let iss: String
    let aud: String
    let sub: String
    let iat: Int
    let exp: Int
    let jti: String
    let sid: String
    let authTime: Int
    let amr: [String]
    /// Of the session; left out where it is 0.
    let gen: Int32?
    let uid: String
    let provider: String
    let providerUid: String
    let email: String?
    let emailVerified: Bool?
    let phone: String?
    let phoneVerified: Bool?
    /// Written, never read: nothing here is decided by them.
    var exposed: [String: JSONValue] = [:]

    enum CodingKeys: String, CodingKey {
        case iss, aud, sub, iat, exp, jti, sid, amr, gen, uid, provider, providerUid, email, phone
        case authTime = "auth_time"
        case emailVerified = "email_verified"
        case phoneVerified = "phone_verified"
    }
}

extension AccessTokenPayload {
    init(_ claims: AccessTokenClaims) {
        iss = claims.issuer
        aud = claims.audience
        sub = claims.uid.text
        iat = claims.issuedAt
        exp = claims.expiresAt
        jti = claims.tokenID.text
        sid = claims.sessionID.text
        authTime = claims.authenticatedAt
        amr = claims.methods
        gen = claims.generation == 0 ? nil : claims.generation
        uid = sub
        provider = claims.provider
        providerUid = claims.providerUid
        email = claims.email
        emailVerified = claims.emailVerified
        phone = claims.phone
        phoneVerified = claims.phoneVerified
        exposed = claims.exposed
    }

    /// `nil` when an id is no UUID, or `sub` isn't the `uid`.
    var claims: AccessTokenClaims? {
        guard sub == uid, let account = UUID(uuidString: uid), let session = UUID(uuidString: sid),
            let token = UUID(uuidString: jti)
        else { return nil }
        return AccessTokenClaims(
            issuer: iss, audience: aud, uid: account, sessionID: session, tokenID: token, issuedAt: iat,
            expiresAt: exp, authenticatedAt: authTime, methods: amr, generation: gen ?? 0, provider: provider,
            providerUid: providerUid, email: email, emailVerified: emailVerified, phone: phone,
            phoneVerified: phoneVerified)
    }
}

extension AccessTokenPayload {
    var json: [UInt8] {
        var writer = JSONObjectWriter()
        writer.add(CodingKeys.iss, iss)
        writer.add(CodingKeys.aud, aud)
        writer.add(CodingKeys.sub, sub)
        writer.add(CodingKeys.iat, iat)
        writer.add(CodingKeys.exp, exp)
        writer.add(CodingKeys.jti, jti)
        writer.add(CodingKeys.sid, sid)
        writer.add(CodingKeys.authTime, authTime)
        writer.add(CodingKeys.amr, amr)
        if let gen { writer.add(CodingKeys.gen, Int(gen)) }
        writer.add(CodingKeys.uid, uid)
        writer.add(CodingKeys.provider, provider)
        writer.add(CodingKeys.providerUid, providerUid)
        if let email { writer.add(CodingKeys.email, email) }
        if let emailVerified { writer.add(CodingKeys.emailVerified, emailVerified) }
        if let phone { writer.add(CodingKeys.phone, phone) }
        if let phoneVerified { writer.add(CodingKeys.phoneVerified, phoneVerified) }
        // What the server itself says in a token can't be said by a provider.
        let reserved: Set = ["nbf", "scope", "client_id", "cnf", "act"]
        for (name, value) in exposed where CodingKeys(stringValue: name) == nil && !reserved.contains(name) {
            writer.add(name, value)
        }
        return writer.object
    }
}
