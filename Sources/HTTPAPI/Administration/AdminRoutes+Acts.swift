internal import Accounts
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// What administrators do with accounts.
    var acts: [Endpoint] {
        let operations = ActOperations()
        return [
            operations.update.at(
                .patch, "/accounts/{uid}", "Changes the display name or replaces the metadata",
                takes: .account(Act<UserChanges>.self), returns: .json),
            operations.setAccess.at(
                .put, "/accounts/{uid}/access", "Replaces the roles or the claims",
                takes: .account(Act<AccessBody>.self), returns: .json),
            operations.disable.at(
                .post, "/accounts/{uid}/disable", "Ends the account's sessions and refuses new ones",
                takes: .account(Act<DisablingBody>.self), returns: .json),
            operations.enable.at(
                .post, "/accounts/{uid}/enable", "Lets a disabled account sign in again",
                takes: .account(Act<NoFields>.self), returns: .json),
            operations.requirePasswordChange.at(
                .post, "/accounts/{uid}/require-password-change", "Makes the next sign-in ask for a new password",
                takes: .account(Act<NoFields>.self), returns: .empty()),
            operations.endSessions.at(
                .post, "/accounts/{uid}/sessions/end", "Ends sessions of the account",
                takes: .account(Act<SessionsBody>.self), returns: .json { EndedSessions(count: $0) }),
            operations.unlink.at(
                .post, "/accounts/{uid}/identities/{id}/unlink", "Removes an identity, and tells the owner",
                takes: .identity(Act<NoFields>.self), returns: .json),
            operations.forecastMerge.at(
                .post, "/accounts/{uid}/merge", "What a merge with another account would do; dryRun must be true",
                takes: .account(MergeForecastBody.self), returns: .json),
            operations.delete.at(
                .post, "/accounts/{uid}/delete", "Ends every session and starts the grace period of deletion",
                takes: .account(Act<NoFields>.self), returns: .json(status: .accepted)),
            operations.restore.at(
                .post, "/accounts/{uid}/restore", "Brings an account back that is in its grace period",
                takes: .account(Act<NoFields>.self), returns: .json),
            operations.erase.at(
                .post, "/accounts/{uid}/erase", "Ends the grace period now",
                takes: .account(Act<ConfirmationBody>.self), returns: .json(status: .accepted)),
            operations.export(by: useCases).at(
                .post, "/accounts/{uid}/export", "Everything held about the person",
                takes: .account(Act<ConfirmationBody>.self), returns: .export),
        ]
    }
}

extension RequestShape {
    /// Decodes a JSON body, and reads the path parameters `uid` and `id`.
    fileprivate static func identity<Body: RequestPayload>(
        _ type: Body.Type
    ) -> Self where Input == (uid: UUID, id: UUID, body: Body) {
        .json(type) { body, request in
            let uid = try request.accountUID
            guard let id = request.context.parameters.get("id", as: UUID.self) else {
                throw AccountsError.identityNotFound
            }
            return (uid, id, body)
        }
    }
}
