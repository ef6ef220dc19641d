package import Accounts
package import Foundation
package import ProviderKit

/// What an administrator wrote about a person.
///
/// It belongs to the account: it is erased with it, and part of the person's export. The audit never has it.
package struct AdminNote: Sendable, Equatable {
    package let id: UUID
    package let text: String
    /// Who wrote it, as in the audit.
    package let actor: JSONValue
    /// The reason of the act, as in the audit; `nil` for a command.
    package let reason: JSONValue?
    package let createdAt: Date

    package init(id: UUID, text: String, actor: JSONValue, reason: JSONValue?, createdAt: Date) {
        (self.id, self.text, self.actor, self.reason, self.createdAt) = (id, text, actor, reason, createdAt)
    }

    /// The longest text, in Unicode code points.
    package static let longest = 2000
}

/// Notes, whose texts are stored sealed.
package protocol AdminNoteStore: Sendable {
    /// Stores a note about a locked account.
    func insertNote(
        _ text: String, about uid: UUID, by act: AdministrativeAct, application: Application.ID
    ) async throws -> AdminNote

    /// The notes about an account and those that it absorbed, the newest first, beginning after the note `last`.
    func notes(
        about uid: UUID, after last: UUID?, atMost count: Int, application: Application.ID
    ) async throws -> [AdminNote]
}

extension AdminNoteStore {
    /// Stores the note of an act that has changed something, if it has one.
    func keepNote(of act: AdministrativeAct, about uid: UUID, application: Application.ID) async throws {
        guard let note = act.note else { return }
        _ = try await insertNote(note, about: uid, by: act, application: application)
    }
}
