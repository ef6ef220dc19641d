internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

/// The audit, signing keys, locks and the configuration.
struct ServerOperations {
    let useCases: AdministrationUseCases
    /// The routes whose calls the limit `general` counts.
    let limitedRoutes: [String]

    var audit: AdminOperation<AdminQuery, Page<ListedAuditEvent>> {
        AdminOperation("audit.list", scope: .readAudit) { request, query in
            let search = AuditSearch(
                event: query["event"], account: query["account"], actor: query["actor"].map { AuditActor($0) },
                since: try query.time("since"), until: try query.time("until"))
            return try await useCases.audit.list(
                search, filter: query.filter("event", "account", "actor", "since", "until"), query.page,
                home: request.settings.home, in: request.application)
        }
    }

    /// - Returns: the audit and what of it is read while the response is sent.
    var exportAudit: AdminOperation<AdminQuery, AuditExport> {
        AdminOperation("audit.export", scope: .readAudit, limit: .adminExport) { request, query in
            let since = try query.time("since")
            try await useCases.audit.beginExport(by: request.act(), in: request.application)
            return AuditExport(reports: useCases.audit, application: request.application, since: since)
        }
    }

    var auditState: AdminOperation<Void, AuditState> {
        AdminOperation("audit.state", scope: .readAudit) { _, _ in try await useCases.audit.state() }
    }

    var keys: AdminOperation<AdminQuery, Page<ListedSigningKey>> {
        AdminOperation("keys.list", scope: .readServer) { request, query in
            let keys = try await useCases.signingKeys.list(of: request.application)
            return try request.page(of: keys, asked: query, in: "keys") { "\($0.purpose.rawValue) \($0.kid)" }
        }
    }

    var rotateKeys: AdminOperation<Act<NoFields>, [ListedSigningKey]> {
        AdminOperation("keys.rotate", scope: .writeKeys, hasOwnCapacity: true, needsProof: true) { request, input in
            let act = try request.actWithoutNote(input)
            // Read before the call waits for its turn, so that calls at the same time replace the key once.
            let seen = try await useCases.signingKeys.signingKey(of: request.application)
            return try await request.inTurn {
                try await useCases.signingKeys.rotate(replacing: seen, by: act, in: request.application)
            }
        }
    }

    var retireKey: AdminOperation<(name: String, body: RetirementBody), Retirement> {
        AdminOperation(
            "keys.retire", scope: .writeKeys, needsProof: true, errors: [.notFound, .wrongState, .confirmationRequired]
        ) { request, input in
            let (kid, body) = (input.name, input.body)
            if body.dryRun == true {
                let key = try await useCases.signingKeys.retirable(kid, in: request.application)
                return Retirement(key: key, isDryRun: true)
            }
            guard let reason = body.reason else { throw AccountsError.missingParameter("reason") }
            let act = try request.actWithoutNote(Act(body: NoFields(), reason: reason))
            let key = try await useCases.signingKeys.retire(
                kid, confirmedBy: body.confirm, by: act, in: request.application)
            return Retirement(key: key, isDryRun: false)
        }
    }

    var searchLocks: AdminOperation<SubjectBody, LockList> {
        AdminOperation("limits.search", scope: .writeLimits, limit: .adminSearch) { request, input in
            let locks = try await useCases.locks.search(
                input.subject, routes: limitedRoutes, by: request.act(), in: request.application)
            return LockList(locks: locks)
        }
    }

    var liftLocks: AdminOperation<Act<SubjectBody>, LiftedLocks> {
        AdminOperation("limits.lift", scope: .writeLimits) { request, input in
            let (act, subject) = (try request.actWithoutNote(input), try input.body.subject)
            if let owner = try await useCases.locks.owner(of: subject, in: request.application) {
                try await request.requireRight(toActOn: owner)
            }
            let lifted = try await useCases.locks.lift(subject, routes: limitedRoutes, by: act, in: request.application)
            return LiftedLocks(lifted: lifted)
        }
    }

    var configuration: AdminOperation<Void, ConfigurationPayload> {
        AdminOperation("configuration.show", scope: .readServer) { request, _ in
            ConfigurationPayload(useCases.configuration, of: request.application.name)
        }
    }
}

/// The audit of an application, read from the database while it is sent.
struct AuditExport: Sendable {
    let reports: AuditReports
    let application: Accounts.Application
    let since: Date?
}
