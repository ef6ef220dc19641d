package import Accounts
package import Foundation
package import ProviderKit

/// Explains to administrators what has happened to an account, and what the linking rules decide.
package struct Explanations: Sendable {
    package typealias Store = ExplanationStore & AliasStore & AuditTrail & PersonalDataStore & LinkingFacts.Store
        & BoundedTransactions

    let store: any Store
    private let cursors: PageCursors

    package init(store: any Store, cursors: PageCursors) { (self.store, self.cursors) = (store, cursors) }

    /// The events of an account and of all that it absorbed, the newest first.
    ///
    /// - Throws: `AdministrationError.accountNotFound`, and `AccountsError.invalidParameter` for a wrong cursor.
    package func timeline(
        of uid: UUID, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<TimelineEntry> {
        let list = PageCursors.List("timeline", filter: ["uid": uid.text], of: application)
        let position = try cursors.timedPosition(in: requested.after, of: list)
        let events = try await store.transaction(within: .administration) { store in
            let uid = try await store.resolve(uid, application: application.id)
            let pseudonyms = try await store.pseudonyms(of: uid, application: application.id)
            guard !pseudonyms.isEmpty else { throw AdministrationError.accountNotFound }
            return try await store.timeline(
                of: pseudonyms, before: position, atMost: requested.limit + 1, application: application.id)
        }
        let page = cursors.page(of: events, limit: requested.limit, in: list) { [String($0.at), $0.id.text] }
        return Page(items: try page.items.map { try TimelineEntry($0) }, next: page.next)
    }

    /// Explains a decision of the linking rules without changing anything but the audit.
    ///
    /// It is recorded as a search is, without the evidence, because the answer shows which account has an address.
    /// - Throws: the errors of `LinkingQuestion.answer`.
    package func explain(
        _ question: LinkingQuestion, by administrator: Administrator, in application: Application
    ) async throws -> Explanation {
        try await recorded(by: administrator, in: application) { store in
            try await question.answer(from: store, in: application)
        }
    }

    /// Explains what a sign-in with evidence of a provider would lead to, and records that as a search too.
    ///
    /// `mode` replaces the provider's own.
    package func explain(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, mode: ProviderMode?,
        by administrator: Administrator
    ) async throws -> Explanation {
        let application = administrator.application
        return try await recorded(by: administrator, in: application) { store in
            try await LinkingExplainer(store: store).explain(evidence, of: provider, mode: mode, in: application)
        }
    }

    /// Runs an explanation, and records who got it and how many accounts it shows.
    private func recorded(
        by administrator: Administrator, in application: Application,
        _ explain: @Sendable (any LinkingFacts.Store) async throws -> Explanation
    ) async throws -> Explanation {
        try await store.transaction(within: .administration) { store in
            let explanation = try await explain(store)
            let details = AdministrativeAct(by: administrator.actor)
                .details(adding: ["kind": "explain", "hits": .integer(Int64(explanation.found.count))])
            try await store.record(AuditEntry(.accountsSearched, details: details), application: application.id)
            return explanation
        }
    }
}

extension Explanation {
    /// The accounts that the answer shows to have the evidence's identity or addresses.
    fileprivate var found: Set<UUID> { Set(state.owners.map(\.uid)).union(state.identity.map { [$0.uid] } ?? []) }
}
