internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

/// Acts on accounts.
///
/// Each checks the reason and the right first; the use case then finds and locks the account.
struct ActOperations: Sendable {
    typealias OnAccount<Body: RequestPayload, Output: Sendable> = AdminOperation<(uid: UUID, body: Act<Body>), Output>

    var update: OnAccount<UserChanges, MaskedAccountDetail> {
        AdminOperation("accounts.update", scope: .writeAccounts, errors: [.accountNotFound]) { request, input in
            let (act, body) = (try await request.act(input.body, on: input.uid), input.body.body)
            try await request.acts.updateProfile(
                of: input.uid, displayName: body.displayName, metadata: body.metadata, by: act, in: request.application)
            return try await request.account(input.uid)
        }
    }

    var setAccess: OnAccount<AccessBody, MaskedAccountDetail> {
        AdminOperation("accounts.setAccess", scope: .accessOfAccounts, errors: [.accountNotFound]) { request, input in
            let change = input.body.body.change
            let act = try await request.act(input.body, on: input.uid)
            _ = try await request.acts.setAccess(change, of: input.uid, by: act, in: request.application)
            return try await request.account(input.uid)
        }
    }

    var disable: OnAccount<DisablingBody, MaskedAccountDetail> {
        AdminOperation(
            "accounts.disable", scope: .writeAccounts, errors: [.accountNotFound, .lastOwner]
        ) { request, input in
            let end = try input.body.body.end(after: request.services.time.now())
            let act = try await request.act(input.body, on: input.uid)
            try await request.acts.setDisabled(true, until: end, uid: input.uid, by: act, in: request.application)
            return try await request.account(input.uid)
        }
    }

    var enable: OnAccount<NoFields, MaskedAccountDetail> {
        AdminOperation("accounts.enable", scope: .writeAccounts, errors: [.accountNotFound]) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            try await request.acts.setDisabled(false, uid: input.uid, by: act, in: request.application)
            return try await request.account(input.uid)
        }
    }

    var requirePasswordChange: OnAccount<NoFields, Void> {
        AdminOperation(
            "accounts.requirePasswordChange", scope: .writeAccounts, errors: [.accountNotFound, .wrongState]
        ) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            let hasPassword = try await request.acts.requirePasswordChange(
                uid: input.uid, by: act, in: request.application)
            guard hasPassword else { throw AdministrationError.wrongState(reason: "The account has no password") }
        }
    }

    /// - Returns: how many sessions have ended.
    var endSessions: OnAccount<SessionsBody, Int> {
        AdminOperation("accounts.endSessions", scope: .writeAccounts, errors: [.accountNotFound]) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            return try await request.acts.endSessions(
                input.body.body.sessions, of: input.uid, by: act, in: request.application)
        }
    }

    var unlink: AdminOperation<(uid: UUID, id: UUID, body: Act<NoFields>), MaskedAccountDetail> {
        AdminOperation(
            "accounts.unlink", scope: .writeAccounts,
            errors: [.accountNotFound, .identityNotFound, .lastUsableIdentity]
        ) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            try await request.acts.unlink(input.id, of: input.uid, by: act, in: request.application)
            return try await request.account(input.uid)
        }
    }

    /// Administrators see what a merge would do, and only the person can carry it out.
    var forecastMerge: AdminOperation<(uid: UUID, body: MergeForecastBody), MergeForecast> {
        AdminOperation(
            "accounts.forecastMerge", scope: .readAccounts, errors: [.accountNotFound, .wrongState]
        ) { request, input in
            guard input.body.dryRun == true else {
                throw AccountsError.invalidParameter("dryRun", reason: "must be true: only the person can merge")
            }
            return try await request.acts.forecastMerge(of: input.uid, with: input.body.other, in: request.application)
        }
    }

    var delete: OnAccount<NoFields, ScheduledDeletion> {
        AdminOperation(
            "accounts.delete", scope: .writeAccounts, errors: [.accountNotFound, .lastOwner]
        ) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            return try await request.acts.delete(input.uid, by: act, in: request.application)
        }
    }

    var restore: OnAccount<NoFields, MaskedAccountDetail> {
        AdminOperation(
            "accounts.restore", scope: .writeAccounts, errors: [.accountNotFound, .wrongState]
        ) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            try await request.acts.restore(input.uid, by: act, in: request.application)
            return try await request.account(input.uid)
        }
    }

    var erase: OnAccount<ConfirmationBody, RequestedErasure> {
        AdminOperation(
            "accounts.erase", scope: .eraseAccounts, needsProof: true,
            errors: [.accountNotFound, .wrongState, .confirmationRequired]
        ) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            try await request.require(input.body.body.confirm, toBe: "erase \(input.uid.text)", of: input.uid)
            return try await request.acts.erase(input.uid, by: act, in: request.application)
        }
    }

    /// - Returns: the export, and the account whose data it reads while the response is sent.
    func export(
        by useCases: AdministrationUseCases
    ) -> OnAccount<ConfirmationBody, (export: AccountExport, uid: UUID)> {
        AdminOperation(
            "accounts.export", scope: .exportAccounts, limit: .adminExport, needsProof: true,
            errors: [.accountNotFound, .confirmationRequired]
        ) { request, input in
            let act = try await request.act(input.body, on: input.uid)
            try await request.require(input.body.body.confirm, toBe: "export \(input.uid.text)", of: input.uid)
            let uid = try await request.acts.beginExport(of: input.uid, by: act, in: request.application)
            return (useCases.export, uid)
        }
    }
}
