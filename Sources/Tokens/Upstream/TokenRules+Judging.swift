internal import Foundation
internal import ProviderKit

extension TokenRules {
    /// How far another's clock may be ahead of ours.
    private static let leeway: TimeInterval = 5

    /// Whether whom the token comes from, whom it is meant for and when it counts are all right; signatures aside.
    func accept(_ claims: TokenClaims, at now: Date) -> Bool {
        acceptsIssuer(of: claims) && acceptsAudience(of: claims) && acceptsTimes(of: claims, at: now)
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
        claims.audiences.contains { audiences.containsBytes(of: $0) }
    }

    /// A time that is there must be one, whether it is asked for or not.
    private func acceptsTimes(of claims: TokenClaims, at now: Date) -> Bool {
        guard let expiry = time("exp", of: claims), let start = time("nbf", of: claims),
            let issue = time("iat", of: claims)
        else { return false }
        let latest = now.addingTimeInterval(Self.leeway)
        guard expiry.map({ $0 > now }) ?? !requiresExpiry, start ?? .distantPast <= latest,
            issue ?? .distantPast <= latest
        else { return false }
        guard maximumAge != nil || longestLifetime != nil else { return true }
        guard let issue else { return false }
        if let maximumAge, now.timeIntervalSince(issue) > maximumAge / .seconds(1) { return false }
        if let longestLifetime, let expiry {
            return expiry.timeIntervalSince(issue) <= longestLifetime / .seconds(1)
        }
        return true
    }

    /// `.some(nil)` where there is no such claim, `nil` where it is no time.
    private func time(_ name: String, of claims: TokenClaims) -> Date?? {
        guard let value = claims.all[name] else { return .some(nil) }
        return value.date.map { .some($0) }
    }

    private static let tenant = "{tenantid}"

    /// What is put into a URL must not change where the URL leads.
    private static func isPlain(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
