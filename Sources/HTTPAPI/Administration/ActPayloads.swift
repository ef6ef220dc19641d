internal import Accounts
package import Administration
internal import Foundation
internal import ProviderKit

/// Changes of an account's roles and claims; absent fields are not changed.
struct AccessBody: RequestPayload {
    /// Replaces all roles.
    let roles: [String]?
    /// Replaces all claims.
    let claims: JSONValue?
    let endSessions: Bool?

    static let fields = RequestFields(
        Self.init, .init("roles"), .init("claims", .metadata), .init("endSessions"))

    /// - Throws: `AccountsError.invalidParameter`.
    var change: AccessChange {
        get throws {
            guard let claims else { return AccessChange(roles: roles, endsSessions: endSessions == true) }
            guard case .object(let members) = claims else {
                throw AccountsError.invalidParameter("claims", reason: "is not an object")
            }
            return AccessChange(roles: roles, claims: members, endsSessions: endSessions == true)
        }
    }
}

struct DisablingBody: RequestPayload {
    /// When the account is enabled again; absent for good.
    let until: String?

    static let fields = RequestFields(Self.init, .init("until", Date.schema))

    /// - Throws: `AccountsError.invalidParameter` unless the time is to come.
    var end: Date? {
        get throws {
            guard let until else { return nil }
            guard let end = Timestamp(until)?.date else {
                throw AccountsError.invalidParameter("until", reason: "is not a time as in 2030-01-30T08:00:00Z")
            }
            guard end > Date() else { throw AccountsError.invalidParameter("until", reason: "is over") }
            return end
        }
    }
}

struct SessionsBody: RequestPayload {
    /// The ids of the sessions to end; absent for all.
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
