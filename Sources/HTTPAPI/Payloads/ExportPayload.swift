internal import Accounts
internal import Foundation
internal import ProviderKit

/// Everything held about a person.
///
/// Never whole in memory: `ExportWriter` writes it section by section, under these names.
package struct ExportPayload: Codable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case exportedAt, application, account, aliases, identities, addresses, passwords, providerTokens
        case tokenRevocations, sessions, pendingRegistrations, pendingProofs, redirectFlows, merges, erasures
        case webhookDeliveries, messages, auditEvents, recipients
    }

    let exportedAt: Timestamp
    let application: String
    let account: ExportedAccount
    /// Accounts that this one has absorbed.
    let aliases: [ExportedAccount]
    let identities: [ExportedIdentity]
    let addresses: [ExportedAddress]
    let passwords: [ExportedPassword]
    let providerTokens: [ExportedProviderToken]
    let tokenRevocations: [ExportedTokenRevocation]
    let sessions: [ExportedSession]
    let pendingRegistrations: [ExportedRegistration]
    let pendingProofs: [ExportedProof]
    /// Sign-ins and links by redirect, until a day after they end.
    let redirectFlows: [ExportedFlow]
    let merges: [ExportedMerge]
    let erasures: [ExportedErasure]
    /// What was told to whom about the account.
    let webhookDeliveries: [ExportedDelivery]
    /// What the person was sent, or is about to be, for as long as that is known; the texts are not kept.
    let messages: [ExportedMessage]
    let auditEvents: [ExportedEvent]
    /// Who learns of people at all, as it is configured now.
    let recipients: [ExportedRecipient]
}

struct ExportedAccount: Codable, Sendable {
    let uid: String
    @Nullable var displayName: String?
    let metadata: JSONValue
    /// Languages, as `Accept-Language` has them.
    @Nullable var locale: String?
    let createdAt: Timestamp
    let updatedAt: Timestamp
    @Nullable var disabledAt: Timestamp?
    @Nullable var deletedAt: Timestamp?
    @Nullable var purgeAfter: Timestamp?
}

struct ExportedIdentity: Codable, Sendable {
    let id: String
    let provider: String
    let providerUid: String
    let isGuest: Bool
    @Nullable var email: String?
    let emailVerified: Bool
    @Nullable var phone: String?
    let phoneVerified: Bool
    @Nullable var displayName: String?
    /// What the provider told.
    let profile: JSONValue
    let createdAt: Timestamp
    @Nullable var lastUsedAt: Timestamp?
    /// By a merge or with another address, where that was after it was created.
    @Nullable var joinedAt: Timestamp?
    /// Since when a password reset has shut it out.
    @Nullable var quarantinedAt: Timestamp?
}

struct ExportedAddress: Codable, Sendable {
    let kind: String
    let address: String
    /// The person has switched off mail to it.
    let isSilent: Bool
    let verifiedAt: Timestamp
}

/// That there is a password; nothing made of it leaves.
struct ExportedPassword: Codable, Sendable {
    let identityId: String
    let mustChange: Bool
    let changedAt: Timestamp
}

/// That a service's tokens are kept, to be given back.
struct ExportedProviderToken: Codable, Sendable {
    let identityId: String
    let provider: String
    let updatedAt: Timestamp
}

struct ExportedTokenRevocation: Codable, Sendable {
    let identityId: String
    let provider: String
    let createdAt: Timestamp
    let attempts: Int
    @Nullable var failure: String?
    @Nullable var revokedAt: Timestamp?
    @Nullable var failedAt: Timestamp?
}

struct ExportedSession: Codable, Sendable {
    let id: String
    let identityId: String
    let methods: [String]
    @Nullable var device: String?
    @Nullable var address: String?
    /// The session that authenticated again and got this one.
    @Nullable var resumes: String?
    /// The session whose place this one took, after a merge or a restored deletion.
    @Nullable var continues: String?
    /// The name of the session in `auditEvents`.
    let auditSession: String
    let authenticatedAt: Timestamp
    let createdAt: Timestamp
    @Nullable var lastSeenAt: Timestamp?
    let expiresAt: Timestamp
    @Nullable var endedAt: Timestamp?
    @Nullable var endReason: String?
    /// The account that a guest went over to.
    @Nullable var successorUid: String?
}

struct ExportedRegistration: Codable, Sendable {
    let id: String
    let provider: String
    let providerUid: String
    let address: String
    @Nullable var displayName: String?
    let onConflict: String
    let createdAt: Timestamp
    let expiresAt: Timestamp
}

struct ExportedProof: Codable, Sendable {
    let kind: String
    let provider: String
    let providerUid: String
    @Nullable var address: String?
    let addressKind: String
    let methods: [String]
    let attempts: Int
    let createdAt: Timestamp
    let expiresAt: Timestamp
}

/// What the provider told is sealed until the app redeems it; from then on it is the identity's.
struct ExportedFlow: Codable, Sendable {
    let provider: String
    let redirectUri: String
    /// The session that the flow links an identity to.
    @Nullable var linkingSession: String?
    /// The session that it opened.
    @Nullable var sessionId: String?
    let holdsEvidence: Bool
    /// The provider was asked to have the person sign in again.
    let isFresh: Bool
    let createdAt: Timestamp
    @Nullable var answeredAt: Timestamp?
    @Nullable var redeemedAt: Timestamp?
    let expiresAt: Timestamp
}

struct ExportedMerge: Codable, Sendable {
    let id: String
    let survivor: String
    let absorbed: String
    let identities: [String]
    /// Those of guests, which the survivor gave up.
    let parked: [String]
    let addressKinds: [String]
    let addresses: [String]
    /// What the survivor lacked and took over.
    let filled: JSONValue
    let mergedAt: Timestamp
    let undoUntil: Timestamp
    @Nullable var undoneAt: Timestamp?
}

struct ExportedErasure: Codable, Sendable {
    let receipt: String
    let requestedAt: Timestamp
    let purgeAfter: Timestamp
    @Nullable var beganAt: Timestamp?
    @Nullable var restoredAt: Timestamp?
    @Nullable var erasedAt: Timestamp?
}

struct ExportedDelivery: Codable, Sendable {
    let eventId: String
    let name: String
    let kind: String
    let details: JSONValue
    let attempts: Int
    @Nullable var failure: String?
    let createdAt: Timestamp
    @Nullable var acknowledgedAt: Timestamp?
    @Nullable var failedAt: Timestamp?
}

struct ExportedMessage: Codable, Sendable {
    let id: String
    let topic: String
    let channel: String
    let attempts: Int
    @Nullable var failure: String?
    let createdAt: Timestamp
    @Nullable var sentAt: Timestamp?
    @Nullable var failedAt: Timestamp?
}

struct ExportedEvent: Codable, Sendable {
    let id: String
    let at: Timestamp
    let event: String
    /// `auditSession` of a session; its id in events of versions before that.
    @Nullable var session: String?
    let details: JSONValue

    init(_ event: AuditEvent) throws {
        id = event.id.text
        at = Timestamp(event.date)
        self.event = event.event
        session = event.session?.text
        details = try JSONDecoder().decode(JSONValue.self, from: Data(event.details.utf8))
    }
}

struct ExportedRecipient: Codable, Sendable {
    let name: String
    let kind: String
    let hosts: [String]

    init(_ recipient: Recipient) {
        name = recipient.name
        kind = recipient.kind.rawValue
        hosts = recipient.hosts
    }
}
