internal import Foundation
internal import ProviderKit

/// Builds evidence from the documents of a service: an ID token, userinfo or a profile.
///
/// Each claim is read from the first document that contains it, an address with its `email_verified`.
struct EvidenceReader: Sendable {
    let claims: ClaimMap
    let authority: EmailAuthority
    let trustsEmail: Bool
    /// Further claims to store under the service's names.
    let profile: [String]
    /// Claims of the profile that are looked up in userinfo if the ID token lacks them.
    var exposed: [String] = []

    static let standardProfile = [
        "given_name", "family_name", "middle_name", "nickname", "preferred_username", "picture", "website", "gender",
        "birthdate", "zoneinfo", "locale", "hd", "tid",
    ]

    /// The claims that are looked up in further documents.
    var wanted: [ClaimMap.Name] = [.providerUid, .email, .displayName]

    /// Whether claims are missing that another document may have.
    func isIncomplete(_ documents: [JSONValue]) -> Bool {
        wanted.contains { claims.has($0) && first($0, in: documents).isNull }
            || (claims.further.values + exposed.filter { claims.further[$0] == nil })
                .contains { path in documents.allSatisfy { $0[claim: path].isNull } }
    }

    /// - Throws: `ProviderError.refused` if the documents contain no subject id.
    func identity(in documents: [JSONValue]) throws -> VerifiedIdentity {
        VerifiedIdentity(
            providerUid: try providerUid(in: documents),
            addresses: [email(in: documents), documents.lazy.compactMap { claims.phone(in: $0) }.first]
                .compactMap(\.self),
            displayName: PersonName.joined(first(.displayName, in: documents).string), profile: profile(in: documents),
            methods: ["fed"])
    }

    private func first(_ name: ClaimMap.Name, in documents: [JSONValue]) -> JSONValue {
        documents.lazy.map { claims.value(name, in: $0) }.first { !$0.isNull } ?? .null
    }

    private func providerUid(in documents: [JSONValue]) throws -> String {
        let subject = documents.lazy.compactMap { claims.subject(in: $0) }.first
        guard let subject, subject.utf8.count <= 255 else { throw ProviderError.refused }
        return subject
    }

    private func email(in documents: [JSONValue]) -> AddressClaim? {
        for document in documents {
            guard let email = claims.value(.email, in: document).string else { continue }
            let claim = authority.claim(
                email, saidVerified: claims.value(.emailVerified, in: document).bool ?? false, in: document,
                isMapped: claims.isMapped(.email) || claims.isMapped(.emailVerified), trustsEmail: trustsEmail)
            if let claim { return claim }
        }
        return nil
    }

    private func profile(in documents: [JSONValue]) -> [String: JSONValue] {
        let own = Dictionary(profile.map { ($0, $0) }) { $1 }
        return own.merging(claims.further) { $1 }.compactMapValues { path in
            documents.lazy.map { $0[claim: path] }.first { !$0.isNull }
        }
    }
}

extension [JSONValue] {
    /// Every claim of the documents, each from the first one that contains it.
    var claims: [String: JSONValue] {
        reduce(into: [:]) { claims, document in claims.merge(document.object ?? [:]) { first, _ in first } }
    }
}
