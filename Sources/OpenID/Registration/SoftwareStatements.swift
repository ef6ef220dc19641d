package import Foundation
internal import ProviderKit

/// Checks software statements (RFC 7591, 2.3): signed descriptions of an app, which each installation sends.
struct SoftwareStatements: Sendable {
    /// The longest statement in bytes.
    private static let longest = 8192

    let keys: any TokenVerifying

    /// What the statement has instead of the configuration; a configured statement has nothing.
    /// - Throws: `invalid_software_statement` for one that its issuer has not signed, or that has expired;
    ///   `unapproved_software_statement` for one that does not agree with the configuration.
    func metadata(
        of statement: String, about software: Software, named id: String, at issuer: Issuer
    ) async throws -> InstanceMetadata {
        guard statement.utf8.count <= Self.longest else { throw OAuthError.invalidStatement }
        let hash = Digest.sha256(of: statement)
        guard !software.statements.containsSecret(hash) else { return InstanceMetadata() }
        guard let signer = software.statementIssuer else { throw OAuthError.unapprovedStatement }
        var rules = TokenRules(
            keys: signer.keys, algorithms: signer.algorithms, issuers: [signer.issuer],
            audiences: [issuer.url, issuer.url(of: .registration)], requiresExpiry: false)
        rules.requiresAudience = false
        let claims: TokenClaims
        do {
            claims = try await keys.verify(statement, by: rules)
        } catch ProviderError.refused {
            throw OAuthError.invalidStatement
        } catch ProviderError.unavailable {
            throw OAuthError(.temporarilyUnavailable, "The keys of the statement's issuer cannot be fetched")
        }
        guard claims["software_id"].string?.hasSameBytes(as: id) == true, let metadata = InstanceMetadata(claims),
            metadata.liesWithin(software.template)
        else { throw OAuthError.unapprovedStatement }
        return metadata
    }
}

extension InstanceMetadata {
    /// - Returns: `nil` if the statement has a value of a wrong type, or an empty one.
    fileprivate init?(_ claims: TokenClaims) {
        if !claims["redirect_uris"].isNull {
            let items = claims["redirect_uris"].array ?? []
            let uris = items.compactMap(\.string)
            guard !uris.isEmpty, uris.count == items.count else { return nil }
            redirectURIs = uris
        }
        if !claims["scope"].isNull {
            guard let words = claims["scope"].string?.spacedWords, !words.isEmpty else { return nil }
            scope = words.joined(separator: " ")
        }
    }

    fileprivate func liesWithin(_ template: OAuthClient) -> Bool {
        (redirectURIs ?? []).allSatisfy(template.redirectURIs.map(\.text).containsBytes)
            && (scope?.spacedWords ?? []).allSatisfy(template.scopes.containsBytes)
    }
}

extension Software {
    /// The payload of a statement about the software.
    package func statement(id: String, issuer: String, at time: Date) -> [UInt8] {
        var writer = JSONObjectWriter()
        writer.add("iss", issuer)
        writer.add("iat", Int(time.timeIntervalSince1970))
        writer.add("software_id", id)
        writer.add("software_version", version)
        writer.add("redirect_uris", template.redirectURIs.map(\.text))
        writer.add("scope", template.scopes.inOrder.joined(separator: " "))
        return writer.finished()
    }
}

extension OAuthError {
    static let invalidStatement = OAuthError(
        .invalidSoftwareStatement, "The software is unknown, or its statement is missing, expired or not signed")

    fileprivate static let unapprovedStatement = OAuthError(
        .unapprovedSoftwareStatement, "The software statement is not approved")
}

extension [[UInt8]] {
    /// Whether one of the hashes is the given one; compares all of them in constant time.
    func containsSecret(_ hash: [UInt8]) -> Bool { reduce(false) { ConstantTime.areEqual($1, hash) || $0 } }
}
