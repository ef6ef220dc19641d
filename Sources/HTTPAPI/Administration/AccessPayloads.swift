internal import Accounts
package import Administration
internal import Foundation
package import ProviderKit

extension AdminScope: SentChoice, ResponseValue {
    package func write(to json: inout JSONObjectWriter) { rawValue.write(to: &json) }
}

extension AdminScope.Role: SentChoice {}

struct ServiceKeyBody: RequestPayload {
    let name: String
    let scopes: [AdminScope]
    /// In whole seconds.
    let expiresIn: Int
    /// Addresses and ranges from which the key may be used; absent for anywhere.
    let allow: [String]?

    static let fields = RequestFields(
        Self.init, .init("name", JSONSchema(.string, pattern: JSONSchema.noNUL, length: 1...ServiceKeys.longestName)),
        .init("scopes", .array(of: .enumeration(AdminScope.allCases.filter(\.isForKeys).map(\.rawValue)))),
        .init("expiresIn"), .init("allow"))
}

struct RotationBody: RequestPayload {
    /// For how many seconds the former secret counts.
    let overlap: Int?
    /// The mark of the secret that the caller wants to replace, so that sending the body again changes nothing.
    let seen: String?

    static let fields = RequestFields(Self.init, .init("overlap"), .init("seen"))
}

struct GrantBody: RequestPayload {
    let role: AdminScope.Role
    /// If present, it must be the application of the path, as in the other bodies about roles.
    let on: String?

    static let fields = RequestFields(Self.init, .init("role"), .init("on"))
}

struct RevocationBody: RequestPayload {
    let confirm: String?
    let on: String?

    static let fields = RequestFields(Self.init, .init("confirm"), .init("on"))
}

struct AdminInvitationBody: RequestPayload {
    /// The address that the account must own; absent if anybody with the link may use it.
    let email: String?
    let role: AdminScope.Role
    /// In whole seconds.
    let expiresIn: Int?
    let on: String?

    static let fields = RequestFields(
        Self.init, .init("email", .email), .init("role"), .init("expiresIn"), .init("on"))
}

/// The phrase that confirms an act.
struct ConfirmationBody: RequestPayload {
    let confirm: String?

    static let fields = RequestFields(Self.init, .init("confirm"))
}

extension Administrator: ResponsePayload {
    package static let fields = ResponseFields<Self>("Administrator") {
        Field("actor") { $0.actor.details }
        Field("application", \.application.name)
        Field("scopes") { $0.scopes.sorted() }
        Field("expiresAt", \.expiresAt)
    }
}

extension ServiceKey: ResponsePayload {
    package static let fields = ResponseFields<Self>("ServiceKey") {
        Field("id", \.id)
        Field("name", \.name)
        Field("scopes") { $0.scopes.sorted() }
        Field("allow", \.clients)
        Field("createdAt", \.createdAt)
        Field("expiresAt", \.expiresAt)
        Field("revokedAt", orNull: \.revokedAt)
        Field("lastUsedAt", orNull: \.lastUsedAt)
    }
}

/// A service key whose secret was just made, and is not shown again.
struct ServiceKeyWithSecret: ResponsePayload {
    let key: ServiceKey
    let secret: String

    static let fields = ResponseFields<Self>("ServiceKeyWithSecret") {
        Field(flattening: \.key)
        Field("secret", \.secret)
    }
}

extension ServiceKey: NamedList {
    static let listName = "ServiceKeyList"
}

extension AdminGrant: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminGrant") {
        Field("uid", \.uid)
        Field("role", as: .choice(of: AdminScope.Role.self), \.role.rawValue)
        // Whether the role is for all applications.
        Field("all") { $0.application == nil }
        Field("createdAt", \.createdAt)
    }
}

extension AdminGrant: NamedList {
    static let listName = "AdminList"
}
