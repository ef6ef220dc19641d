package import Foundation
internal import ProviderKit

/// Exports all data about a person (GDPR, articles 15 and 20) page by page, in constant memory.
package struct AccountExport: Sendable {
    private static let page = 200

    package typealias Store = PersonalDataStore & AuditTrail

    private let store: any Store
    private let events: any AuditChainStore

    package init(store: any Store, events: any AuditChainStore) { (self.store, self.events) = (store, events) }

    /// Records the owner's export in the audit; call this method before the export.
    package func begin(by principal: Principal) async throws {
        let entry = AuditEntry(
            .accountExported, of: principal.uid, session: principal.sessionID, details: ["by": "owner"])
        try await store.record(entry, application: principal.application.id)
    }

    /// Reads all rows of a section; `uid` may be an alias.
    package func forEachPage(
        of section: PersonalDataSection, about uid: UUID, in application: Application,
        _ body: ([PersonalDataRow]) async throws -> Void
    ) async throws {
        var rows: [PersonalDataRow] = []
        repeat {
            rows = try await store.personalData(
                section, of: uid, application: application.id, after: rows.last?.key, atMost: Self.page)
            try await body(rows)
        } while rows.count == Self.page
    }

    package func forEachPage(
        ofAuditAbout uid: UUID, in application: Application, _ body: ([AuditEvent]) async throws -> Void
    ) async throws {
        for pseudonym in try await store.pseudonyms(of: uid, application: application.id) {
            var events: [AuditEvent] = []
            repeat {
                events = try await self.events.events(
                    of: application.id, account: pseudonym, since: nil, after: events.last, atMost: Self.page)
                try await body(events)
            } while events.count == Self.page
        }
    }
}
