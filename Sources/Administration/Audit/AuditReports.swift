package import Accounts
package import Foundation
package import ProviderKit

/// An event of the audit with its account, while that exists.
package struct ListedAuditEvent: Sendable {
    package let event: AuditEvent
    package let uid: UUID?
    /// The details of `event`, which are decoded once.
    package let details: JSONValue

    init(_ event: AuditEvent, uid: UUID?) {
        (self.event, self.uid) = (event, uid)
        details = (try? JSONValue(jsonText: event.details)) ?? [:]
    }
}

/// How far the audit of all applications is sealed.
package struct AuditState: Sendable {
    /// The last batch; `nil` before the first event.
    package let last: AuditBatch?
    package let unsealed: Int
    /// The age of the oldest event without a seal.
    package let oldest: Duration
}

/// Who acted, as a client names it to search the audit.
package enum AuditActor: Sendable, Equatable {
    case key(String)
    case command(host: String)
    case account(uid: UUID)
    case pseudonym(String)

    /// Reads `key:ID`, `cli:HOST` or `account:UID`, or the id alone.
    ///
    /// An id alone is that of a key if it has the form of one, that of an account if it is a UUID or a
    /// pseudonym, and otherwise the name of a host.
    package init(_ text: String) {
        for (prefix, make) in Self.prefixes where text.utf8.starts(with: prefix.utf8) {
            self = make(String(Substring(text.utf8.dropFirst(prefix.utf8.count))))
            return
        }
        if ServiceKey.isID(text) {
            self = .key(text)
        } else if UUID(uuidString: text) != nil || [UInt8](hex: text)?.count == 32 {
            self = Self.ofAccount(text)
        } else {
            self = .command(host: text)
        }
    }

    private static let prefixes: [(String, @Sendable (String) -> AuditActor)] = [
        ("key:", { .key($0) }), ("cli:", { .command(host: $0) }), ("account:", ofAccount),
    ]

    @Sendable private static func ofAccount(_ id: String) -> AuditActor {
        UUID(uuidString: id).map { .account(uid: $0) } ?? .pseudonym(id)
    }
}

/// What a client searches the audit for.
package struct AuditSearch: Sendable {
    package let event: String?
    /// A uid, or the pseudonym in hexadecimal.
    package let account: String?
    package let actor: AuditActor?
    package let since, until: Date?

    package init(event: String?, account: String?, actor: AuditActor?, since: Date?, until: Date?) {
        (self.event, self.account, self.actor, self.since, self.until) = (event, account, actor, since, until)
    }
}

/// Reading the audit of one application.
package struct AuditReports: Sendable {
    package typealias Store = AuditListStore & BoundedTransactions

    let store: any TransactionalStore & Store
    let trail: any AuditTrail
    let chain: any AuditChainStore
    let cursors: PageCursors
    let capacity: AdminCapacity

    /// The number of events that an export reads at once.
    private static let page = 1000

    /// Returns events, the newest first; `filter` has the parameters of the search, to which the cursor belongs.
    ///
    /// Administrators are accounts of the application `home`.
    package func list(
        _ search: AuditSearch, filter: [String: String], _ requested: RequestedPage, home: Application,
        in application: Application
    ) async throws -> Page<ListedAuditEvent> {
        let list = PageCursors.List("audit", filter: filter, of: application)
        let position = try cursors.timedPosition(in: requested.after, of: list)
        return try await store.transaction(within: .administration) { store in
            guard let filter = try await self.filter(search, home: home, in: application, store: store) else {
                return Page(items: [], next: nil)
            }
            let events = try await store.auditEvents(
                filter, before: position, atMost: requested.limit + 1, application: application.id)
            let accounts = try await store.accounts(
                pseudonyms: Array(Set(events.compactMap(\.account))), application: application.id)
            let items = events.map { event in
                ListedAuditEvent(event, uid: event.account.flatMap { accounts[$0] })
            }
            return cursors.page(of: items, limit: requested.limit, in: list) { ["\($0.event.at)", $0.event.id.text] }
        }
    }

    /// The filter with pseudonyms; `nil` if an account does not exist, so that no event is found.
    private func filter(
        _ search: AuditSearch, home: Application, in application: Application, store: any AuditListStore
    ) async throws -> AuditFilter? {
        var filter = AuditFilter()
        (filter.event, filter.since, filter.until) = (search.event, search.since, search.until)
        if let account = search.account {
            if let uid = UUID(uuidString: account) {
                guard let pseudonym = try await store.pseudonym(of: uid, application: application.id) else {
                    return nil
                }
                filter.account = pseudonym
            } else if let pseudonym = [UInt8](hex: account), pseudonym.count == 32 {
                filter.account = pseudonym
            } else {
                throw AccountsError.invalidParameter("account", reason: "is neither a uid nor a pseudonym")
            }
        }
        switch search.actor {
        case .key(let id)?: filter.actor = ["key": .string(id)]
        case .command(let host)?: filter.actor = ["cli": .string(host)]
        case .pseudonym(let pseudonym)?: filter.actor = ["account": .string(pseudonym)]
        case .account(let uid)?:
            guard let pseudonym = try await store.pseudonym(of: uid, application: home.id) else { return nil }
            filter.actor = ["account": .string(pseudonym.hex)]
        case nil: break
        }
        return filter
    }

    /// Records an export, which begins with `forEachPage`.
    package func beginExport(by act: AdministrativeAct, in application: Application) async throws {
        try await trail.record(AuditEntry(.auditExported, details: act.details), application: application.id)
    }

    /// Passes all events to `body`, the oldest first, a page at a time.
    ///
    /// Each page takes a place among the calls of administrators for itself, so that a long export leaves room for
    /// others.
    package func forEachPage(
        since: Date?, in application: Application, _ body: ([AuditEvent]) async throws -> Void
    ) async throws {
        var events: [AuditEvent] = []
        repeat {
            let last = events.last
            events = try await capacity.run(isPatient: true) {
                try await store.transaction(within: .administration) { store in
                    try await store.auditEvents(
                        after: last, since: since, atMost: Self.page, application: application.id)
                }
            }
            try await body(events)
        } while events.count == Self.page
    }

    package func state() async throws -> AuditState {
        let (count, oldest) = try await chain.unsealedEvents()
        return AuditState(last: try await chain.lastBatch(), unsealed: count, oldest: oldest)
    }
}
