internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import ProviderKit

/// What an app of Immich does with the account that is signed in.
struct ImmichAccount {
    let operations: Operations

    var endpoints: [Endpoint] {
        let (accounts, passwords) = (operations.accounts, operations.passwords)
        return [
            accounts.showDetails(\.immichProvider).at(
                .get, below: "/api", "/users/me", "The account that is signed in", takes: .nothing,
                returns: .json(inContext: ImmichUser.init)),
            accounts.updateDetails(\.immichProvider).at(
                .put, below: "/api", "/users/me", "Changes the name, or the password after a recent sign-in",
                takes: .json(ImmichUserChanges.self) { body, _ in
                    (name: body.name, password: body.password)
                }, returns: .json(inContext: ImmichUser.init)),
            operations.sessions.validate.at(
                .post, below: "/api", "/auth/validateToken", "That the token is valid", takes: .nothing,
                returns: .json { ImmichValidity() }),
            changePassword(.put),
            changePassword(.post),
            operations.sessions.logoutHere.at(
                .post, below: "/api", "/auth/logout", "Ends this session",
                takes: .nothing,
                returns: .json { ImmichLogout() }),
        ]

        func changePassword(_ method: HTTPRequest.Method) -> Endpoint {
            passwords.changeOwn(\.immichProvider).at(
                method, below: "/api", "/auth/change-password",
                "Sets a new password with the current one, or after a recent sign-in",
                takes: .json(ImmichPasswordChange.self) { body, _ in body.change },
                returns: .json(inContext: ImmichUser.init))
        }
    }
}

// MARK: - Requests

struct ImmichUserChanges: RequestPayload {
    let name, password: String?

    static let fields = RequestFields(
        Self.init, .init("name", .displayName), .init("password", .newPassword))
}

/// `password` is the new one, or the current one if there is a `newPassword`.
struct ImmichPasswordChange: RequestPayload {
    let password: String
    let newPassword: String?
    let invalidateSessions: Bool?

    static let fields = RequestFields(
        Self.init, .init("password"), .init("newPassword", .newPassword), .init("invalidateSessions"))

    var change: PasswordOperations.OwnChange {
        .init(
            password: newPassword ?? password, current: newPassword == nil ? nil : password,
            endsOthers: invalidateSessions ?? true)
    }
}

// MARK: - Responses

private struct ImmichValidity: ResponsePayload {
    static let fields = ResponseFields<Self>("ImmichValidity") { Field("authStatus") { _ in true } }
}

private struct ImmichLogout: ResponsePayload {
    static let fields = ResponseFields<Self>("ImmichLogout") {
        Field("successful") { _ in true }
        Field("redirectUri") { _ in "/auth/login?autoLaunch=0" }
    }
}

private struct ImmichUser: ResponsePayload {
    let details: AccountDetails
    let isAdministrator: Bool

    init(_ details: AccountDetails, in context: OperationContext) throws {
        self.details = details
        isAdministrator = try context.immich.isAdministrator(details.user)
    }

    static let fields = ResponseFields<Self>("ImmichUser") {
        Field("id", \.details.user.uid)
        Field("email", \.details.user.immichEmail)
        Field("name", \.details.user.immichName)
        Field("profileImagePath") { _ in "" }
        Field("avatarColor", as: .enumeration(colors), \.color)
        Field("profileChangedAt", \.details.user.createdAt)
        Field("storageLabel", orNull: { _ in String?.none })
        Field("shouldChangePassword", \.details.shouldChangePassword)
        Field("isAdmin", \.isAdministrator)
        Field("createdAt", \.details.user.createdAt)
        Field("updatedAt", \.details.user.updatedAt)
        Field("deletedAt", orNull: { _ in String?.none })
        Field("oauthId") { $0.details.providerUid ?? "" }
        Field("quotaSizeInBytes", orNull: { _ in Int?.none })
        Field("quotaUsageInBytes", orNull: { _ in Int?.none })
        Field("status", as: .enumeration(["active"])) { _ in "active" }
        Field("license", orNull: { _ in String?.none })
    }

    private static let colors = [
        "primary", "pink", "red", "yellow", "blue", "green", "purple", "orange", "gray", "amber",
    ]

    /// Chosen by the last byte of the id, whose first ones are a time and therefore the same for many accounts.
    private var color: String { Self.colors[Int(details.user.uid.uuid.15) % Self.colors.count] }
}
