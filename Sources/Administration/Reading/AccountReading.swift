package import Accounts
package import Foundation
internal import ProviderKit

/// Looks at one account: masked, or field by field with a reason.
///
/// Each call follows an alias to the account that has absorbed it, and throws `AdministrationError.accountNotFound` if
/// there is none.
package struct AccountReading: Sendable {
    package typealias Store = AccountReadingStore & AliasStore & IdentityStore & SessionStore & MergeUndoStore
        & AdminNoteStore
        & AuditTrail & BoundedTransactions

    private let store: any Store
    private let opaque: any OpaqueTokens
    private let cursors: PageCursors

    package init(store: any Store, opaque: any OpaqueTokens, cursors: PageCursors) {
        (self.store, self.opaque, self.cursors) = (store, opaque, cursors)
    }

    package func detail(of uid: UUID, in application: Application) async throws -> MaskedAccountDetail {
        let opaque = opaque
        return try await store.transaction(within: .administration) { store in
            let record = try await store.record(of: uid, in: application)
            let account = record.user.uid
            let identities = try await store.identities(of: account, application: application.id)
            let activity = try await store.activity(
                of: account, counters: opaque.failureCounters(of: account, with: identities),
                application: application.id)
            return MaskedAccountDetail(
                account: MaskedAccount(record), claims: record.user.access.claims,
                metadata: Mask.metadata(record.user.metadata), isAlias: account != uid, activity: activity,
                identities: identities.count,
                usableIdentities: identities.count - application.providers.obstacles(among: identities).count,
                liveSessions: try await store.sessions(of: account, application: application.id).count)
        }
    }

    /// The account's identities, the oldest first.
    package func identities(
        of uid: UUID, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<ShownIdentity> {
        let identities = try await store.transaction(within: .administration) { store in
            let account = try await store.record(of: uid, in: application).user.uid
            return try await store.identities(of: account, in: application, isMasked: true)
        }
        return try cursors.page(
            of: identities, sortedBy: { TimedKey($0.createdAt, $0.id, isNewestFirst: false) }, requested,
            in: .init("identities", of: uid, in: application))
    }

    /// The account's live sessions, the newest first.
    package func sessions(
        of uid: UUID, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<ListedSession> {
        let sessions = try await store.transaction(within: .administration) { store in
            let account = try await store.record(of: uid, in: application).user.uid
            return try await store.sessions(of: account, application: application.id).map(\.masked)
        }
        return try cursors.page(
            of: sessions, sortedBy: { TimedKey($0.createdAt, $0.id, isNewestFirst: true) }, requested,
            in: .init("sessions", of: uid, in: application))
    }

    /// The merges that made the account what it is, the newest first; also those that were undone.
    package func merges(
        of uid: UUID, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<Merge> {
        let merges = try await store.transaction(within: .administration) { store in
            let account = try await store.record(of: uid, in: application).user.uid
            return try await store.merges(of: account, application: application.id)
        }
        return try cursors.page(
            of: merges, sortedBy: { TimedKey($0.mergedAt, $0.id, isNewestFirst: true) }, requested,
            in: .init("merges", of: uid, in: application))
    }

    /// Shows fields unmasked, and records which.
    package func reveal(
        _ fields: Set<RevealedField>, of uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> RevealedAccount {
        try await store.transaction(within: .administration) { store in
            let user = try await store.record(of: uid, in: application).user
            let names = fields.map(\.rawValue).sorted().map { JSONValue.string($0) }
            let entry = AuditEntry(
                .accountRevealed, of: user.uid, details: act.details(adding: ["fields": .array(names)]))
            try await store.record(entry, application: application.id)
            try await store.keepNote(of: act, about: user.uid, application: application.id)
            var revealed = RevealedAccount(fields: fields, user: user)
            if fields.contains(.identities) {
                revealed.identities = try await store.identities(of: user.uid, in: application, isMasked: false)
            }
            if fields.contains(.sessions) {
                revealed.sessions = try await store.sessions(of: user.uid, application: application.id)
            }
            return revealed
        }
    }
}

/// A field that administrators see masked until they have a reason.
package enum RevealedField: String, Sendable, CaseIterable {
    case email, phone, displayName, metadata, identities, sessions
}

package struct RevealedAccount: Sendable {
    /// The fields that were asked for; no other field may be shown.
    package let fields: Set<RevealedField>
    package let user: User
    package fileprivate(set) var identities: [ShownIdentity] = []
    package fileprivate(set) var sessions: [ListedSession] = []

    fileprivate init(fields: Set<RevealedField>, user: User) { (self.fields, self.user) = (fields, user) }
}

extension AccountReadingStore where Self: AliasStore {
    /// The account, or the one that has absorbed it.
    ///
    /// - Throws: `AdministrationError.accountNotFound`.
    fileprivate func record(of uid: UUID, in application: Application) async throws -> AccountRecord {
        let account = try await resolve(uid, application: application.id)
        guard let record = try await records(of: [account], application: application.id)[account] else {
            throw AdministrationError.accountNotFound
        }
        return record
    }
}

extension PageCursors.List {
    /// A list of what an account has.
    fileprivate init(_ name: String, of uid: UUID, in application: Application) {
        self.init("GET /accounts/{uid}/\(name)", filter: ["uid": uid.uuidString], of: application)
    }
}

extension IdentityStore {
    fileprivate func identities(
        of uid: UUID, in application: Application, isMasked: Bool
    ) async throws -> [ShownIdentity] {
        let identities = try await identities(of: uid, application: application.id)
        let obstacles = application.providers.obstacles(among: identities)
        return identities.map { ShownIdentity($0, obstacle: obstacles[$0.id], isMasked: isMasked) }
    }
}

extension OpaqueTokens {
    /// The counters of wrong passwords of each identity, and of the account's wrong PINs.
    fileprivate func failureCounters(of uid: UUID, with identities: [Identity]) -> [FailureCounter] {
        identities.map { identity in
            FailureCounter(
                key: attemptKey(provider: identity.provider, providerUid: identity.providerUid), kind: .password,
                name: identity.provider)
        } + [FailureCounter(key: pinAttempts(of: uid), kind: .pin, name: "pin")]
    }
}
