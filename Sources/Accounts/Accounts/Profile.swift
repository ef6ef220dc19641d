internal import Foundation
package import ProviderKit

/// Reads and changes the profile of the principal.
package struct Profile: Sendable {
    /// Longest display name, in code points.
    package static let longestName = 256
    /// Largest metadata, in bytes of JSON.
    package static let largestMetadata = 16 * 1024

    let store: any ProfileStore & AccountDetailStore

    package func user(of principal: Principal) async throws -> User {
        guard let user = try await store.user(principal.uid, application: principal.application.id) else {
            throw AccountsError.invalidToken
        }
        return user
    }

    /// Returns what the provider last reported of the identity that opened the session, by claim.
    package func identityProfile(of principal: Principal) async throws -> [String: JSONValue] {
        try await store.identityProfile(ofSession: principal.sessionID, application: principal.application.id)
    }

    /// Returns the account, whether its password must change, and the `providerUid` of its oldest identity of `provider`.
    package func details(of principal: Principal, with provider: String?) async throws -> AccountDetails {
        let user = try await user(of: principal)
        return try await store.details(of: user, provider: provider, application: principal.application.id)
    }

    /// Replaces the values that are not `nil`; metadata must be an object.
    package func update(displayName: String?, metadata: JSONValue?, of principal: Principal) async throws -> User {
        if let displayName { try Self.check(displayName: displayName) }
        if let metadata { try Self.check(metadata: metadata) }
        let user = try await store.updateProfile(
            of: principal.uid, displayName: displayName, metadata: metadata, application: principal.application.id)
        guard let user else { throw AccountsError.invalidToken }
        return user
    }

    /// Chooses the language of messages and pages, by its tag.
    ///
    /// The stored list ends with `*;q=0`. Browsers never send that, so it shows that the language was chosen, and
    /// sign-ins do not replace it with the languages of the browser.
    package func choose(language: String, of principal: Principal) async throws {
        let isSet = try await store.setLanguages(
            "\(language), *;q=0", of: principal.uid, application: principal.application.id)
        guard isSet else { throw AccountsError.invalidToken }
    }

    /// - Throws: `AccountsError.invalidParameter` if the metadata is not an object, or too large.
    package static func check(metadata: JSONValue) throws(AccountsError) {
        guard case .object = metadata else {
            throw .invalidParameter("metadata", reason: "is not an object")
        }
        guard metadata.storedSize <= largestMetadata else {
            throw .invalidParameter("metadata", reason: "is larger than \(largestMetadata) bytes")
        }
    }

    /// `field` is the name of the request's field, for the error.
    /// - Throws: `AccountsError.invalidParameter` if the name is empty or too long.
    package static func check(displayName: String, in field: String = "displayName") throws(AccountsError) {
        guard !displayName.isEmpty, displayName.unicodeScalars.count <= longestName else {
            throw .invalidParameter(field, reason: "is empty or longer than \(longestName) characters")
        }
    }
}
