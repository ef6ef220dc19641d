package import Accounts
package import Foundation

/// Reading and writing notes about people.
package struct AdminNotes: Sendable {
    private let acts: AccountActs
    private let cursors: PageCursors

    package init(acts: AccountActs, cursors: PageCursors) { (self.acts, self.cursors) = (acts, cursors) }

    /// A part of the notes about an account, the newest first.
    ///
    /// - Throws: `AccountsError.invalidParameter` for a cursor of another list; `AccountsError.accountNotFound`.
    package func list(
        about uid: UUID, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<AdminNote> {
        let list = PageCursors.List("notes", filter: ["uid": uid.text], of: application)
        let position = try cursors.position(in: requested.after, of: list, count: 1)
        let notes = try await acts.store.transaction(within: .administration) { store in
            let uid = try await store.resolve(uid, application: application.id)
            guard try await store.summary(of: uid, application: application.id) != nil else {
                throw AccountsError.accountNotFound(uid)
            }
            return try await store.notes(
                about: uid, after: position?.first.flatMap { UUID(uuidString: $0) }, atMost: requested.limit + 1,
                application: application.id)
        }
        return cursors.page(of: notes, limit: requested.limit, in: list) { [$0.id.text] }
    }

    /// Stores a note; the audit records that there is one, and not what it says.
    ///
    /// - Throws: `AccountsError.invalidParameter` for a text that is empty or too long; `AccountsError.accountNotFound`.
    package func add(
        _ text: String, about uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> AdminNote {
        guard (1...AdminNote.longest).contains(text.unicodeScalars.count) else {
            throw AccountsError.invalidParameter("text", reason: "has 1 to \(AdminNote.longest) characters")
        }
        return try await acts.onAccount(uid, in: application) { store, uid, _ in
            let note = try await store.insertNote(text, about: uid, by: act, application: application.id)
            try await store.record(
                AuditEntry(.noteAdded, of: uid, details: act.details), application: application.id)
            try await store.keepNote(of: act, about: uid, application: application.id)
            return note
        }
    }
}
