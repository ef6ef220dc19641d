import Accounts
import Foundation
import ProviderKit

/// The claims of an access token, with their names in the token (RFC 7519 section 4.1, OpenID Connect Core 5.1).
struct AccessTokenPayload: Decodable {
    let iss, aud, sub, jti, sid, uid, provider, providerUid: String
    let iat, exp, authTime: Int
    let amr: [String]
    /// The session's generation; absent if it is 0.
    let gen: Int32?
    let email, phone: String?
    let emailVerified, phoneVerified: Bool?

    enum CodingKeys: String, CodingKey {
        case iss, aud, sub, iat, exp, jti, sid, amr, gen, uid, provider, providerUid, email, phone
        case authTime = "auth_time"
        case emailVerified = "email_verified"
        case phoneVerified = "phone_verified"
    }

    /// `nil` if an id is not a UUID, or `sub` differs from `uid`.
    var claims: AccessTokenClaims? {
        guard sub == uid, let account = UUID(uuidString: uid), let session = UUID(uuidString: sid),
            let token = UUID(uuidString: jti)
        else { return nil }
        return AccessTokenClaims(
            issuer: iss, audience: aud, uid: account, sessionID: session, tokenID: token, issuedAt: iat, expiresAt: exp,
            authenticatedAt: authTime, methods: amr, generation: gen ?? 0, provider: provider, providerUid: providerUid,
            email: email, emailVerified: emailVerified, phone: phone, phoneVerified: phoneVerified)
    }
}

extension AccessTokenClaims {
    /// Claims that only the server may set, in addition to those of `AccessTokenPayload`.
    private static let reserved: Set = ["nbf", "scope", "client_id", "cnf", "act"]

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
        writer.add(Name.uid, uid.text)
        writer.add(Name.provider, provider)
        writer.add(Name.providerUid, providerUid)
        if let email { writer.add(Name.email, email) }
        if let emailVerified { writer.add(Name.emailVerified, emailVerified) }
        if let phone { writer.add(Name.phone, phone) }
        if let phoneVerified { writer.add(Name.phoneVerified, phoneVerified) }
        for (name, value) in exposed where Name(stringValue: name) == nil && !Self.reserved.contains(name) {
            writer.add(name, value)
        }
        return writer.object
    }
}
