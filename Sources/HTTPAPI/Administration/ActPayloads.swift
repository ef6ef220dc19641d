internal import Accounts
package import Administration
internal import Foundation
internal import ProviderKit

/// Changes of an account's roles and claims; absent fields are not changed.
struct AccessBody: RequestPayload {
    /// Replaces all roles.
    let roles: [String]?
    /// Replaces all claims.
    let claims: SentClaims?
    let endSessions: Bool?

    static let fields = RequestFields(Self.init, .init("roles"), .init("claims"), .init("endSessions"))

    var change: AccessChange {
        AccessChange(roles: roles, claims: claims?.members, endsSessions: endSessions == true)
    }
}

/// Claims in a request: any object.
struct SentClaims: RequestValue {
    let members: [String: JSONValue]

    static var schema: JSONSchema { .metadata }

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: JSONValue].self)
    }
}

struct DisablingBody: RequestPayload {
    /// When the account is enabled again; if absent, the account stays disabled.
    let until: SentTime?

    static let fields = RequestFields(Self.init, .init("until"))

    /// - Throws: `AccountsError.invalidParameter` if the time is in the past.
    func end(after now: Date) throws -> Date? {
        guard let end = until?.date else { return nil }
        guard end > now else { throw AccountsError.invalidParameter("until", reason: "must be in the future") }
        return end
    }
}

struct SessionsBody: RequestPayload {
    /// The ids of the sessions to end; if absent, all sessions end.
    let sessions: [UUID]?

    static let fields = RequestFields(Self.init, .init("sessions"))
}

struct MergeForecastBody: RequestPayload {
    let other: UUID
    let dryRun: Bool?

    static let fields = RequestFields(Self.init, .init("other"), .init("dryRun"))
}

struct EndedSessions: ResponsePayload {
    let count: Int

    static let fields = ResponseFields<Self>("EndedSessions") { Field("ended", \.count) }
}

extension ScheduledDeletion: ResponsePayload {
    package static let fields = ResponseFields<Self>("ScheduledDeletion") {
        Field("receipt", \.receipt)
        Field("purgeAfter", \.purgeAfter)
    }
}

extension RequestedErasure: ResponsePayload {
    package static let fields = ResponseFields<Self>("RequestedErasure") {
        Field("receipt", \.receipt)
        // The webhooks and providers that have not acknowledged the deletion.
        Field("waitingFor", \.waitingFor)
    }
}
