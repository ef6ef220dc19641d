package import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// Notes about accounts.
    var notes: [Endpoint] {
        let operations = NoteOperations(notes: useCases.notes)
        return [
            operations.list.at(
                .get, "/accounts/{uid}/notes", "What administrators wrote about the account, the newest first",
                takes: .listOfAccount, returns: .json { ListPayload($0) }),
            operations.add.at(
                .post, "/accounts/{uid}/notes", "Writes a note about the account",
                takes: .account(Act<NoteBody>.self), returns: .json(status: .created)),
        ]
    }
}

struct NoteOperations: Sendable {
    let notes: AdminNotes

    var list: AdminOperation<(uid: UUID, query: AdminQuery), Page<AdminNote>> {
        AdminOperation("notes.list", scope: .writeAccounts, errors: [.accountNotFound]) { request, input in
            try await notes.list(about: input.uid, input.query.page, in: request.application)
        }
    }

    var add: AdminOperation<(uid: UUID, body: Act<NoteBody>), AdminNote> {
        AdminOperation("notes.add", scope: .writeAccounts, errors: [.accountNotFound]) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            return try await notes.add(input.body.body.text, about: input.uid, by: act, in: request.application)
        }
    }
}

struct NoteBody: RequestPayload {
    let text: String

    static let fields = RequestFields(
        Self.init, .init("text", JSONSchema(.string, pattern: JSONSchema.noNUL, length: 1...AdminNote.longest)))
}

extension AdminNote: ResponsePayload, NamedList {
    static let listName = "NoteList"

    package static let fields = ResponseFields<Self>("AdminNote") {
        Field("id", \.id)
        Field("text", \.text)
        Field("actor", \.actor)
        Field("reason") { $0.reason ?? .null }
        Field("createdAt", \.createdAt)
    }
}
