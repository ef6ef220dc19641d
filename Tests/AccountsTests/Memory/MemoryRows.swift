import Foundation
import ProviderKit

@testable import Accounts

/// The rows of one application.
struct MemoryRows: Sendable {
    struct Account: Sendable {
        var displayName: String?
        var metadata: [String: JSONValue] = [:]
        var isDisabled = false
        var purgeAfter: Date?
        var absorbedBy: UUID?
        var createdAt: Date
    }

    struct IdentityRow: Sendable {
        let id: UUID
        var uid: UUID
        var provider: String
        var providerUid: String
        var isGuest: Bool
        var shown: [Address]
        var verified: Set<Address>
        var displayName: String?
        let createdAt: Date
        var lastUsedAt: Date?
        var quarantinedAt: Date?

        func isVerified(_ address: Address) -> Bool { verified.contains(address) }

        var identity: Identity {
            let (email, phone) = (shown.lazy.compactMap(\.email).first, shown.lazy.compactMap(\.phone).first)
            return Identity(
                id: id, provider: provider, providerUid: providerUid, isGuest: isGuest, email: email,
                emailVerified: email.map { isVerified(.email($0)) } ?? false, phone: phone,
                phoneVerified: phone.map { isVerified(.phone($0)) } ?? false, displayName: displayName,
                createdAt: createdAt, lastUsedAt: lastUsedAt, isQuarantined: quarantinedAt != nil)
        }
    }

    struct SessionRow: Sendable {
        let id: UUID
        let uid: UUID
        var identity: UUID
        let expiresAt: Date
        var resumes: UUID?
        var continues: UUID?
        var generation: Int32 = 0
        var renewedAt: Date?
        var endedAt: Date?
        var reason: SessionEnd?
        var successor: UUID?
    }

    struct Owner: Sendable {
        var uid: UUID
        var verifiedAt: Date
    }

    var now = Date.distantPast
    var accounts: [UUID: Account] = [:]
    var identities: [UUID: IdentityRow] = [:]
    var owners: [Address: Owner] = [:]
    var sessions: [UUID: SessionRow] = [:]
    var proofs: [[UInt8]: ProofRow] = [:]
    var challenges: [UUID: Challenge] = [:]
    var guesses: [Address: Guesses] = [:]
    var merges: [MergeRow] = []
    var deletions: [UUID: Deletion] = [:]
    var passwords: [UUID: PasswordHash] = [:]
    var spent: Set<String> = []
    var messages: [Message] = []
    var events: [AccountEvent.Kind] = []
    var refusals: [AuditEntry] = []
}

extension MemoryRows {
    func status(of uid: UUID) -> AccountStatus? {
        accounts[uid].map { account in
            if let survivor = account.absorbedBy { return .absorbed(by: survivor) }
            if account.isDisabled { return .disabled(isDeleted: account.purgeAfter != nil) }
            return account.purgeAfter.map { .deleted(purgeAfter: $0) } ?? .live
        }
    }

    func identities(of uid: UUID) -> [IdentityRow] {
        identities.values.filter { $0.uid == uid }.sorted { ($0.createdAt, $0.id.text) < ($1.createdAt, $1.id.text) }
    }

    func identity(_ provider: String, _ providerUid: String) -> IdentityRow? {
        identities.values.first { $0.provider == provider && $0.providerUid == providerUid }
    }

    /// Returns the account's addresses in the order of their verification.
    func addresses(of uid: UUID) -> [Address] {
        owners.filter { $0.value.uid == uid }
            .sorted { ($0.value.verifiedAt, $0.key.value) < ($1.value.verifiedAt, $1.key.value) }.map(\.key)
    }

    func isLive(_ session: SessionRow) -> Bool { session.endedAt == nil && session.expiresAt > now }

    func liveSessions(of uid: UUID) -> [SessionRow] { sessions.values.filter { $0.uid == uid && isLive($0) } }

    func known(_ row: IdentityRow) -> KnownIdentity? {
        status(of: row.uid).map {
            KnownIdentity(id: row.id, uid: row.uid, status: $0, isQuarantined: row.quarantinedAt != nil)
        }
    }

    /// Whether the first session may finish a call that the second one began.
    func mayFinish(_ session: UUID?, _ beganBy: UUID?) -> Bool {
        guard let beganBy else { return true }
        guard let session else { return false }
        if session == beganBy { return true }
        let row = sessions[session]
        return [row?.resumes, row?.continues].compactMap { $0 }.contains { mayFinish($0, beganBy) }
    }
}
