internal import Foundation
internal import ProviderKit

extension TokenRules {
    /// Why a token is refused, apart from its signature.
    enum Fault {
        case issuer, audience
        /// It is not valid yet.
        case early
        /// It is no longer valid, or has another time that is not acceptable.
        case late
    }

    /// Checks the issuer, the audience and the times of a token, but not its signature.
    func fault(in claims: TokenClaims, at now: Date) -> Fault? {
        guard acceptsIssuer(of: claims) else { return .issuer }
        guard acceptsAudience(of: claims) else { return .audience }
        guard !acceptsTimes(of: claims, at: now) else { return nil }
        let latest = now.addingTimeInterval(Self.leeway.inSeconds)
        let isEarly = [claims.issuedAt, claims["nbf"].date].contains { $0 ?? .distantPast > latest }
        return isEarly ? .early : .late
    }

    private func acceptsIssuer(of claims: TokenClaims) -> Bool {
        guard let issuer = claims.issuer else { return false }
        return issuers.contains { expected in
            guard expected.contains(Self.tenant) else { return issuer.hasSameBytes(as: expected) }
            guard let tenant = claims["tid"].string, Self.isPlain(tenant) else { return false }
            return issuer.hasSameBytes(as: expected.replacing(Self.tenant, with: tenant))
        }
    }

    private func acceptsAudience(of claims: TokenClaims) -> Bool {
        guard requiresAudience || !claims["aud"].isNull else { return true }
        return claims.audiences.contains { audiences.containsBytes(of: $0) }
    }

    /// Checks the times of a token; malformed times are refused even if they are not required.
    private func acceptsTimes(of claims: TokenClaims, at now: Date) -> Bool {
        guard let expiry = time("exp", of: claims), let notBefore = time("nbf", of: claims),
            let issuedAt = time("iat", of: claims)
        else { return false }
        let latest = now.addingTimeInterval(Self.leeway.inSeconds)
        guard expiry.map({ $0 > now }) ?? !requiresExpiry, notBefore ?? .distantPast <= latest,
            issuedAt ?? .distantPast <= latest
        else { return false }
        guard maximumAge != nil || longestLifetime != nil else { return true }
        guard let issuedAt else { return false }
        if let maximumAge, now.timeIntervalSince(issuedAt) > maximumAge.inSeconds { return false }
        guard let longestLifetime, let expiry else { return true }
        return expiry.timeIntervalSince(issuedAt) <= longestLifetime.inSeconds
    }

    /// The time in a claim; `.some(nil)` for an absent claim, `nil` for a malformed one.
    private func time(_ name: String, of claims: TokenClaims) -> Date?? {
        guard let value = claims.all[name] else { return .some(nil) }
        return value.date.map { .some($0) }
    }

    private static let tenant = "{tenantid}"

    /// Whether the text has only ASCII letters, digits and hyphens, so that inserting it as the tenant
    /// cannot change the structure of an issuer's URL.
    private static func isPlain(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
    }
}
