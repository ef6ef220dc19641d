internal import Accounts
internal import Administration
internal import ProviderKit

/// Why an administrator acts on something.
struct ReasonBody: RequestPayload {
    let code: AdministrativeAct.Reason.Code
    let ticket: String?
    let note: String?

    static let longestNote = 2000
    static let ticketPattern = "^[A-Za-z0-9#/_.:-]{1,64}$"

    static let fields = RequestFields(
        Self.init, .init("code"), .init("ticket", JSONSchema(.string, pattern: ticketPattern)),
        .init("note", JSONSchema(.string, pattern: JSONSchema.noNUL, length: 0...longestNote)))
}

extension AdministrativeAct.Reason.Code: SentChoice {}

/// The body of an act: its own fields, and the reason.
struct Act<Body: RequestPayload>: RequestPayload {
    let body: Body
    let reason: ReasonBody

    static var fields: RequestFields<Self> {
        RequestFields(Self.init, .init(flattening: Body.self), .init("reason"))
    }
}

/// An act without fields of its own.
struct NoFields: RequestPayload {
    static let fields = RequestFields<Self> { Self() }
}

extension Act {
    /// The reason as the audit records it; the note is stored with the account that is acted on.
    ///
    /// - Throws: `AccountsError.invalidParameter`.
    var checkedReason: AdministrativeAct.Reason {
        get throws {
            if let ticket = reason.ticket, ticket.wholeMatch(of: /[A-Za-z0-9#\/_.:\-]{1,64}/) == nil {
                throw AccountsError.invalidParameter(
                    "reason.ticket", reason: "has 1 to 64 letters, digits and characters of #/_.:-")
            }
            if let note = reason.note, note.unicodeScalars.count > ReasonBody.longestNote {
                throw AccountsError.invalidParameter(
                    "reason.note", reason: "has at most \(ReasonBody.longestNote) characters")
            }
            return AdministrativeAct.Reason(reason.code, ticket: reason.ticket)
        }
    }

    /// The reason of an act that is not noted on any account.
    ///
    /// - Throws: `AccountsError.invalidParameter`, also for a note.
    var reasonWithoutNote: AdministrativeAct.Reason {
        get throws {
            guard reason.note == nil else {
                throw AccountsError.invalidParameter("reason.note", reason: "is for acts on accounts")
            }
            return try checkedReason
        }
    }

    /// The note of the reason, if it has one.
    var note: String? { reason.note.flatMap { $0.isEmpty ? nil : $0 } }
}
