internal import Accounts
internal import Foundation
internal import ProviderKit

/// Showing, changing, exporting, deleting, restoring and merging accounts.
struct AccountOperations: Sendable {
    let useCases: UseCases

    var show: Operation<Void, User> {
        Operation("account.show", access: .bearer, limits: .none) { context, _ in
            try await useCases.profile.user(of: context.principal)
        }
    }

    /// The account, and the profile of the identity that signed in as its provider last reported it.
    var showWithProfile: Operation<Void, (user: User, profile: [String: JSONValue])> {
        Operation("account.show", access: .bearer, limits: .none) { context, _ in
            let principal = try context.principal
            return (
                try await useCases.profile.user(of: principal),
                try await useCases.profile.identityProfile(of: principal)
            )
        }
    }

    var update: Operation<UserChanges, User> {
        Operation("account.update", access: .bearer, limits: .general) { context, input in
            try await useCases.profile.update(
                displayName: input.displayName, metadata: input.metadata, of: context.principal)
        }
    }

    /// Shows the account with its identity at the provider that `provider` names, for dialects.
    func showDetails(
        _ provider: @escaping @Sendable (OperationContext) -> String?
    ) -> Operation<Void, AccountDetails> {
        Operation("account.show", access: .bearer, limits: .none) { context, _ in
            try await useCases.profile.details(of: context.principal, with: provider(context))
        }
    }

    /// Changes the name, and the password after a recent sign-in, for dialects.
    func updateDetails(
        _ provider: @escaping @Sendable (OperationContext) -> String?
    ) -> Operation<(name: String?, password: String?), AccountDetails> {
        Operation(
            "account.update", access: .bearer, limits: .general,
            hashesPassword: { input, _ in input()?.password != nil },
            errors: [.tokenTooOld, .tooWeakPassword, .identityNotFound]
        ) { context, input in
            let principal = try context.principal
            // A refused name must not leave the password changed.
            if let name = input.name { try Profile.check(displayName: name, in: "name") }
            if let password = input.password {
                let change = PasswordOperations.OwnChange(password: password, current: nil, endsOthers: true)
                try await PasswordOperations(useCases: useCases).change(change, of: principal, from: context.client)
            }
            if let name = input.name {
                _ = try await useCases.profile.update(displayName: name, metadata: nil, of: principal)
            }
            return try await useCases.profile.details(of: principal, with: provider(context))
        }
    }

    /// - Returns: the receipt with which the client can request the status of the deletion.
    var delete: Operation<Void, UUID> {
        Operation("account.delete", access: .recentToDelete, limits: .general) { context, _ in
            try await useCases.deletion.request(by: context.principal)
        }
    }

    var restore: Operation<RestoreBody, SignedIn> {
        Operation(
            "account.restore", limits: .general,
            errors: [
                .invalidToken, .accountDisabled, .providerDisabled, .unsupportedProvider, .secondProofRequired,
                .limitReached,
            ]
        ) { context, input in
            try await useCases.deletion.restore(
                with: input.restoreToken, from: context.client(remembered: input.remember), in: context.application)
        }
    }

    var erasureStatus: Operation<UUID, ErasureStatus> {
        Operation("account.erasureStatus", limits: .local, errors: [.notFound]) { context, receipt in
            try await useCases.deletion.status(of: receipt, in: context.application)
        }
    }

    /// - Returns: the export and the account whose data it reads while the response is sent.
    var export: Operation<Void, (export: AccountExport, uid: UUID)> {
        Operation("account.export", access: .recent, limits: .client(.export)) { context, _ in
            let principal = try context.principal
            try await useCases.export.begin(by: principal)
            return (useCases.export, principal.uid)
        }
    }
}

// MARK: - Merging

extension AccountOperations {
    enum MergeOutcome: Sendable {
        case planned(MergePlan)
        case merged(SignedIn, Merge)
    }

    var merge: Operation<MergeBody, MergeOutcome> {
        Operation(
            "account.merge", access: .recent, limits: .general,
            errors: [.invalidToken, .accountDisabled, .limitReached]
        ) { context, input in
            let (ticket, survivor, principal) = (input.mergeToken, input.survivor, try context.principal)
            if input.dryRun == true {
                let preview = try await useCases.merging.preview(ticket: ticket, by: principal)
                return .planned(try preview.plan(survivor, in: principal.application))
            }
            let (signedIn, merge) = try await useCases.merging.merge(
                ticket: ticket, survivor: survivor, by: principal,
                from: context.client(remembered: input.remember))
            return .merged(signedIn, merge)
        }
    }

    var listMerges: Operation<Void, [Merge]> {
        Operation("account.listMerges", access: .bearer, limits: .none) { context, _ in
            try await useCases.merging.list(of: context.principal)
        }
    }

    var undoMerge: Operation<UUID, Void> {
        Operation(
            "account.undoMerge", access: .recent, limits: .general, errors: [.notFound, .lastUsableIdentity]
        ) { context, id in try await useCases.merging.undo(id, by: context.principal) }
    }
}
