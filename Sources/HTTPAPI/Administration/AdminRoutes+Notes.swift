internal import Accounts
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
                takes: .notes, returns: .json { NoteList(page: $0) }),
            operations.add.at(
                .post, "/accounts/{uid}/notes", "Writes a note about the account",
                takes: .account(Act<NoteBody>.self), returns: .json(status: .created)),
        ]
    }
}

struct NoteOperations: Sendable {
    let notes: AdminNotes

    /// Which notes a call asks for.
    struct Question: Sendable {
        let uid: UUID
        let limit: Int
        let cursor: String?
    }

    var list: AdminOperation<Question, Page<AdminNote>> {
        AdminOperation("notes.list", scope: .writeAccounts, errors: [.accountNotFound]) { request, input in
            try await notes.list(about: input.uid, limit: input.limit, after: input.cursor, in: request.application)
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

extension AdminNote: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminNote") {
        Field("id", \.id)
        Field("text", \.text)
        Field("actor", \.actor)
        Field("reason") { $0.reason ?? .null }
        Field("createdAt", \.createdAt)
    }
}

struct NoteList: ResponsePayload {
    let page: Page<AdminNote>

    static let fields = ResponseFields<Self>("NoteList") {
        Field("items", \.page.items)
        Field("next", orNull: \.page.next)
    }
}

extension RequestShape<NoteOperations.Question> {
    /// Reads the path parameter `uid`, and `limit` and `after` of the query.
    fileprivate static var notes: Self {
        let parameters = [
            OperationDescription.Parameter(
                "limit", help: "How many items, at most \(PageCursors.limits.upperBound).",
                schema: JSONSchema(.integer)),
            OperationDescription.Parameter("after", help: "The cursor in `next` of the page before."),
        ]
        return Self(taken: TakenRequest(parameters: parameters)) { request in
            guard let uid = request.context.parameters.get("uid", as: UUID.self) else {
                throw AdministrationError.accountNotFound
            }
            let query = try request.query
            // An empty value is none of the allowed numbers, though forms leave out empty fields.
            let hasEmptyLimit = try FormFields.pairs(of: request.request.uri.query ?? "")
                .contains { $0.name.hasSameBytes(as: "limit") && $0.value.isEmpty }
            let limit = query["limit"].map { Int($0) } ?? PageCursors.standardLimit
            guard !hasEmptyLimit, let limit, PageCursors.limits.contains(limit) else {
                throw AccountsError.invalidParameter("limit", reason: "is not a number from 1 to 200")
            }
            return NoteOperations.Question(uid: uid, limit: limit, cursor: query["after"])
        }
    }
}
