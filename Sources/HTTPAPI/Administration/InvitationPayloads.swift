internal import Accounts
internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

struct InvitationBody: RequestPayload {
    /// The address to invite: exactly one of the two.
    let email: String?
    let phone: String?
    let displayName: String?
    let roles: [String]?
    let claims: SentClaims?
    /// In whole seconds.
    let expiresIn: Int?

    static let fields = RequestFields(
        Self.init, .init("email", .email), .init("phone", .phone), .init("displayName", .displayName),
        .init("roles"), .init("claims"), .init("expiresIn"))
}

extension InvitationBody {
    /// - Throws: `AccountsError.invalidParameter` and `missingParameter`.
    var invitee: AccountInvitations.Invitee {
        get throws {
            let (typed, kind): (String, Address.Kind) =
                switch (email, phone) {
                case (let email?, nil): (email, .email)
                case (nil, let phone?): (phone, .phone)
                case (_?, _?):
                    throw AccountsError.invalidParameter("phone", reason: "can't be given together with email")
                case (nil, nil): throw AccountsError.missingParameter("email")
                }
            return AccountInvitations.Invitee(
                typed: typed, kind: kind, displayName: displayName,
                access: AccessChange(roles: roles, claims: claims?.members),
                lifetime: expiresIn.map { .seconds($0) })
        }
    }

    /// Whether the account would get roles or claims, which not every administrator may give.
    var givesAccess: Bool { !(roles ?? []).isEmpty || claims?.members.isEmpty == false }
}

/// When a link that was sent expires.
struct SentLinkResponse: ResponsePayload {
    let expiresAt: Date

    static let fields = ResponseFields<Self>("SentLink") { Field("expiresAt", \.expiresAt) }
}

struct RecoveryBody: RequestPayload {
    let deliver: RecoveryLinks.Delivery
    let confirm: String?

    static let fields = RequestFields(Self.init, .init("deliver"), .init("confirm"))
}

extension RecoveryLinks.Delivery: SentChoice {}

/// A link that an administrator is shown once.
struct ShownLinkResponse: ResponsePayload {
    let link: String
    let expiresAt: Date

    static let fields = ResponseFields<Self>("ShownLink") {
        Field("link", \.link)
        Field("expiresAt", \.expiresAt)
    }
}

extension ResponseShape<RecoveryLinks.Link> {
    static var recoveryLink: Self {
        Self(responses: [
            .init(status: .created, body: ShownLinkResponse.self, description: "The link, which is not shown again"),
            .init(status: .accepted, body: SentLinkResponse.self, description: "The link is on its way to the owner"),
        ]) { link, _ in
            guard let shown = link.shown else {
                return .json(SentLinkResponse(expiresAt: link.expiresAt), status: .accepted)
            }
            return .json(ShownLinkResponse(link: shown, expiresAt: link.expiresAt), status: .created)
        }
    }
}
