package import Accounts
internal import Foundation
internal import ProviderKit

/// A result of a search, or an entry of the list of accounts.
package struct FoundAccount: Sendable {
    package let account: MaskedAccount
    /// `nil` in the list of accounts, which looks for nothing.
    package let match: SearchMatch?
}

/// Finds accounts.
package struct AccountSearch: Sendable {
    package typealias Store = AccountReadingStore & AccountSearchStore & AliasStore & AuditTrail & BoundedTransactions

    private let store: any Store
    private let cursors: PageCursors

    package init(store: any Store, cursors: PageCursors) { (self.store, self.cursors) = (store, cursors) }

    /// The accounts that a filter selects, the newest first.
    ///
    /// - Throws: `AccountsError.invalidParameter` for the cursor of another list.
    package func list(
        _ filter: AccountFilter, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<FoundAccount> {
        let list = PageCursors.List("GET /accounts", filter: filter.cursorFilter, of: application)
        let position = try cursors.position(in: requested.after, of: list, count: 2).map(AccountPosition.init(written:))
        let (found, records) = try await store.transaction(within: .administration) { store in
            let found = try await store.accounts(
                filter, after: position, limit: requested.limit + 1, application: application.id)
            return (found, try await store.records(of: found.map(\.uid), application: application.id))
        }
        let page = cursors.page(of: found, limit: requested.limit, in: list, position: \.written)
        // An account that was erased between the two reads is left out.
        return Page(
            items: page.items.compactMap { records[$0.uid] }.map { FoundAccount(account: .init($0), match: nil) },
            next: page.next)
    }

    /// Searches for accounts, and records the kind of search and the number of results, but not the term.
    ///
    /// - Throws: `AccountsError.invalidParameter` for the cursor of another search, and `AdministrationError.forbidden`.
    package func search(
        for term: SearchTerm, _ requested: RequestedPage, by administrator: Administrator
    ) async throws -> Page<FoundAccount> {
        let application = administrator.application
        let list = PageCursors.List(
            "POST /accounts/search", filter: ["kind": term.kind, "term": term.text], of: application)
        let position = try cursors.position(in: requested.after, of: list, count: term.positionCount)
        return try await store.transaction(within: .administration) { store in
            let hits = try await store.hits(
                for: term, after: position, limit: requested.limit + 1, application: application.id)
            let page = cursors.page(of: hits, limit: requested.limit, in: list, position: \.position)
            let items = try await Self.accounts(of: page.items, for: term, in: application, store: store)
            let details = AdministrativeAct(by: administrator.actor)
                .details(adding: ["kind": .string(term.kind), "hits": .integer(Int64(items.count))])
            try await store.record(AuditEntry(.accountsSearched, details: details), application: application.id)
            return Page(items: items, next: page.next)
        }
    }

    /// Reads the accounts of the results; one that was absorbed is replaced by the account that has absorbed it.
    private static func accounts(
        of hits: [SearchHit], for term: SearchTerm, in application: Application,
        store: some AccountReadingStore & AliasStore
    ) async throws -> [FoundAccount] {
        let asked = hits.compactMap(\.uid)
        var records = try await store.records(of: asked, application: application.id)
        var survivors: [UUID: UUID] = [:]
        // A search by prefix shows what it has found, as the list of all accounts does.
        if !term.isPrefix {
            for (uid, record) in records where record.absorbedBy != nil {
                survivors[uid] = try await store.resolve(uid, application: application.id)
            }
            let further = Array(survivors.values)
            records.merge(try await store.records(of: further, application: application.id)) { $1 }
        }
        var shown: Set<UUID> = []
        return hits.compactMap { hit in
            switch hit.subject {
            case .signUp(let signUp): return FoundAccount(account: MaskedAccount(signUp), match: hit.match)
            case .account(let uid):
                let survivor = survivors[uid] ?? uid
                // Both accounts of a merge lead to the same one.
                guard shown.insert(survivor).inserted, let record = records[survivor] else { return nil }
                let account = MaskedAccount(record)
                if case .address(let address) = term, hit.match == .claim {
                    return FoundAccount(account: account.claiming(address), match: .claim)
                }
                let isAlias = hit.match == .uid && survivor != uid
                return FoundAccount(account: account, match: isAlias ? .alias : hit.match)
            }
        }
    }
}

extension SearchHit {
    fileprivate var uid: UUID? { if case .account(let uid) = subject { uid } else { nil } }
}

extension SearchTerm {
    fileprivate var isPrefix: Bool { if case .prefix = self { true } else { false } }

    /// How many texts the position of a result has.
    fileprivate var positionCount: Int { if case .address = self { 2 } else { 1 } }
}

extension AccountFilter {
    /// The filter as a cursor is bound to it.
    fileprivate var cursorFilter: [String: String] {
        [
            "status": state?.rawValue, "provider": provider, "createdAfter": createdAfter?.precise,
            "createdBefore": createdBefore?.precise,
        ].compactMapValues(\.self)
    }
}

extension AccountPosition {
    /// The position in a cursor, to the microsecond, as the database stores the time.
    fileprivate var written: [String] {
        let microseconds = Int64(exactly: (createdAt.timeIntervalSinceReferenceDate * 1_000_000).rounded()) ?? 0
        return [String(microseconds), uid.uuidString]
    }

    /// Reads what `written` returned, which the cursor has authenticated.
    fileprivate init(written: [String]) throws {
        guard written.count == 2, let microseconds = Int64(written[0]), let uid = UUID(uuidString: written[1]) else {
            throw AccountsError.invalidParameter("after", reason: "is not a cursor of this list")
        }
        let createdAt = Date(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000)
        self.init(createdAt: createdAt, uid: uid)
    }
}
