internal import Accounts
internal import Delivery
internal import Logging
internal import Postgres
internal import Storage
internal import Tokens

extension Backend {
    /// The erasure scope of each configured application.
    func scopes(of configuration: Configuration) async throws -> [ErasureScope] {
        try await applications(of: configuration).map { application in
            let configured = configuration.application(named: application.name)
            let erasure = configured?.erasure ?? Configuration.Erasure()
            return ErasureScope(
                application: application, webhookDeadline: erasure.webhookDeadline,
                anonymousRetention: configured?.anonymousRetention ?? .configuredMaximum,
                ledger: erasure.ledger.map(ledger))
        }
    }

    private func ledger(at path: String) -> LedgerFile {
        LedgerFile(path: path) { [opaque] in opaque.pseudonym(of: $0, purpose: "erasure-ledger") }
    }

    var erasure: Erasure {
        Erasure(store: store, opaque: opaque, certification: ErasureCertifier(keys: keys), time: SystemTime())
    }

    var purge: Purge {
        Purge(store: store, erasure: erasure, pace: ErasurePace { [database] in database.waits })
    }

    func revocationQueue(_ scope: DeliveryScope = .all) -> TokenRevocationsTable {
        TokenRevocationsTable(database: database, sealing: sealer, scope: scope, arrivals: channel.outboxArrivals())
    }

    /// Erases accounts again that the ledgers list as erased and that a restored backup has brought back.
    ///
    /// Call it before serving requests.
    func replayLedgers(of scopes: [ErasureScope]) async throws {
        for scope in scopes {
            // Creates the key of certificates before it is first needed, so that every backup contains it.
            _ = try await ErasureCertifier(keys: keys).signer(for: scope.application)
            try await warnOfEmptyLedger(of: scope)
            let count = try await erasure.replay(in: scope)
            guard count > 0 else { continue }
            logger.warning(
                "erased accounts again that a restored backup had brought back",
                metadata: ["application": "\(scope.application.name)", "accounts": "\(count)"])
        }
    }

    /// Logs a warning if the ledger is empty though accounts were erased, because a new file may have taken its place.
    private func warnOfEmptyLedger(of scope: ErasureScope) async throws {
        guard let ledger = scope.ledger, try await ledger.isEmpty(),
            try await store.hasErased(in: scope.application.id)
        else { return }
        logger.warning(
            "the ledger of erasures is empty, but accounts were erased: its file is new, lost or not mounted",
            metadata: ["application": "\(scope.application.name)"])
    }

    /// Logs a notice for each application without a ledger, except in development.
    func noteMissingLedgers(of scopes: [ErasureScope]) {
        guard !configuration.server.development else { return }
        for scope in scopes where scope.ledger == nil {
            logger.notice(
                "no deletion.ledger: a restored backup brings back accounts that were erased after it was made",
                metadata: ["application": "\(scope.application.name)"])
        }
    }
}
