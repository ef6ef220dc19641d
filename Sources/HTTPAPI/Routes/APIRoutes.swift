internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProviderKit

/// Version 1 of the API: every operation at its method and path, in JSON.
struct APIRoutes {
    let operations: Operations
    let installed: [any Provider.Type]

    var endpoints: [Endpoint] {
        installed.compactMap { $0 as? any DirectProvider.Type }.map { direct($0) }
            + redirects
            + installed.compactMap { $0 as? any ChallengeProvider.Type }.flatMap { codes($0) }
            + installed.filter { $0 is any NotifyingProvider.Type }.map { notifications($0.kind) }
            + passwords + links + sessions + identities + merges + accounts
    }

    private func direct<P: DirectProvider>(_ type: P.Type) -> Endpoint {
        operations.providers.signIn(with: type).at(
            .post, "/auth/\(P.route)", "Signs in: \(P.displayName)", takes: .json, returns: .json)
    }

    private func codes<P: ChallengeProvider>(_ type: P.Type) -> [Endpoint] {
        let path = "/auth/\(P.kind)/otp"
        return [
            operations.providers.sendCode(with: type).at(
                .post, path, "Sends a code to an address, known or not", takes: .json,
                returns: .json(status: .accepted)),
            operations.providers.verifyCode(kind: P.kind).at(
                .post, path + "/verify", "Signs in with a code", takes: .json, returns: .json),
        ]
    }

    private func notifications(_ kind: String) -> Endpoint {
        operations.providers.notify(kind: kind).at(
            .post, "/auth/\(kind)/notifications", "Takes a signed event of the provider", takes: .json,
            returns: .empty(status: .ok))
    }

    private var passwords: [Endpoint] {
        let operations = operations.passwords
        return [
            operations.register.at(
                .post, "/auth/register", "Registers an address with a password and mails a link that opens the account",
                takes: .json, returns: .json(status: .created, RegistrationResponse.init)),
            operations.verify.at(
                .post, "/auth/verify-email",
                "Opens the account of a registration with the mailed token, or links it to the bearer's account",
                takes: .json, returns: .json),
            operations.signIn.at(
                .post, "/auth/login", "Signs in with a password", takes: .json, returns: .json),
            operations.requestReset.at(
                .post, "/auth/forgot-password",
                "Mails a link that sets a new password, where the address has an account", takes: .json,
                returns: .json(status: .accepted, MailedLinkResponse.init)),
            operations.reset.at(
                .post, "/auth/reset-password",
                "Sets a new password with the mailed token and ends every session of the account", takes: .json,
                returns: .empty()),
            operations.change.at(
                .put, "/auth/change-password", "Sets a new password and ends the account's other sessions",
                takes: .json, returns: .empty()),
        ]
    }

    private var sessions: [Endpoint] {
        let operations = operations.sessions
        return [
            operations.refresh.at(
                .post, "/auth/refresh", "Exchanges a refresh token for its successor and a fresh access token",
                takes: .json, returns: .json),
            operations.logout.at(
                .post, "/auth/logout", "Ends this session, the others, or all of them", takes: .json, returns: .empty()),
            operations.check.at(
                .get, "/auth/check", "A short access token for the app's back end, for a proxy's sub-request",
                takes: .subrequest,
                returns: ResponseShape(
                    responses: [.init(status: .noContent, headers: Self.checkHelp)]
                ) { token, _ in
                    Response(status: .noContent, headers: [.xGatehouseToken: token])
                }),
            operations.list.at(
                .get, "/auth/sessions", "The account's live sessions", takes: .nothing,
                returns: .json { SessionList(sessions: $0) }),
            operations.end.at(
                .delete, "/auth/sessions/{id}", "Ends one session", takes: .id("id", orElse: .sessionNotFound),
                returns: .empty()),
        ]
    }

    private var accounts: [Endpoint] {
        let operations = operations.accounts
        return [
            operations.show.at(
                .get, "/auth/me", "The account that is signed in", takes: .nothing, returns: .json),
            operations.update.at(
                .patch, "/auth/me", "Changes the display name or replaces the metadata", takes: .json,
                returns: .json),
            operations.delete.at(
                .delete, "/auth/account", "Ends every session and starts the grace period of deletion", takes: .nothing,
                returns: ResponseShape(
                    responses: [.init(status: .noContent, headers: Self.receiptHelp)]
                ) { receipt, context in
                    Response(status: .noContent, headers: [.location: context.erasurePath(receipt)])
                }),
            operations.restore.at(
                .post, "/auth/account/restore", "Brings an account back that is in its grace period", takes: .json,
                returns: .json),
            operations.erasureStatus.at(
                .get, "/erasures/{receipt}", "How far a deletion is",
                takes: .id("receipt", orElse: .receiptNotFound), returns: .json),
            operations.export.at(
                .get, "/auth/account/export", "Everything held about the person", takes: .nothing, returns: .export,
                answersHEAD: false),
        ]
    }

    private var merges: [Endpoint] {
        let operations = operations.accounts
        return [
            operations.merge.at(
                .post, "/auth/merge",
                "Merges this account with the one that the ticket is for; with dryRun, tells what would happen",
                takes: .json, returns: .merge),
            operations.listMerges.at(
                .get, "/auth/merges", "What was merged into the account", takes: .nothing,
                returns: .json { MergeList(merges: $0) }),
            operations.undoMerge.at(
                .post, "/auth/merges/{id}/undo", "Undoes a merge", takes: .id("id", orElse: .mergeNotFound),
                returns: .empty(description: "Both accounts are as they were")),
        ]
    }

    private static let checkHelp = [
        "X-Gatehouse-Token": "An access token for the application's audience, valid for a minute at most."
    ]
    static let receiptHelp = ["Location": "Where the progress of the deletion can be read without signing in."]
}

extension ResponseShape<AccountOperations.MergeOutcome> {
    fileprivate static var merge: Self {
        Self(responses: [
            .init(body: MergeResponse.self, description: "A session of the survivor"),
            .init(body: MergePlan.self, description: "With dryRun, the plan"),
        ]) { outcome, _ in
            switch outcome {
            case .planned(let plan): .json(plan)
            case .merged(let signedIn, let merge): .json(MergeResponse(session: signedIn, merge: merge))
            }
        }
    }
}

extension ResponseShape<(export: AccountExport, uid: UUID)> {
    /// Responds with the export as a file, which is read from the database while it is sent.
    static var export: Self {
        let returned = ReturnedResponse(
            body: ExportPayload.self, headers: ["Content-Disposition": "Names the file that a browser saves it as."])
        return Self(responses: [returned]) { output, context in
            .export(output.export, of: output.uid, context: context)
        }
    }
}

extension Response {
    /// The export of an account as a file.
    static func export(_ export: AccountExport, of uid: UUID, context: OperationContext) -> Response {
        let application = context.application
        let writer = ExportWriter(export: export, recipients: context.scope.application.recipients)
        let type = "application/json; charset=utf-8"
        return .download("account-\(uid.text).json", type: type, context: context) { body in
            try await writer.write(uid, in: application, at: Date()) { bytes in
                try await body.write(ByteBuffer(bytes: bytes))
            }
        }
    }
}

extension OperationContext {
    /// The path for requesting the status of the deletion with that receipt.
    func erasurePath(_ receipt: UUID) -> String { "\(scope.publicPath)\(base)/erasures/\(receipt.text)" }
}
