internal import Accounts
internal import Delivery
internal import Logging
internal import Storage
internal import Tokens

extension Backend {
    /// The configured applications as erasure sees them.
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
        Erasure(
            store: store, opaque: opaque, certification: ErasureCertifier(keys: keys), time: SystemTime())
    }

    var purge: Purge {
        Purge(store: store, erasure: erasure)
    }

    func revocationQueue(_ scope: DeliveryScope = .all) -> TokenRevocationsTable {
        TokenRevocationsTable(
            database: database, sealing: sealer, scope: scope, arrivals: channel.outboxArrivals())
    }

    /// Erases what the ledgers say was erased, and a restored backup has brought back.
    ///
    /// To be called before anybody is served.
    func replayLedgers(of scopes: [ErasureScope]) async throws {
        for scope in scopes {
            // The key of certificates is made long before it signs: a backup must not be without it.
            _ = try await ErasureCertifier(keys: keys).signer(for: scope.application)
            let count = try await erasure.replay(in: scope)
            guard count > 0 else { continue }
            logger.warning(
                "accounts erased again that a backup had brought back",
                metadata: ["application": "\(scope.application.name)", "accounts": "\(count)"])
        }
    }

    /// Says what the lack of a ledger means, to whoever runs it for real.
    func noteMissingLedgers(of scopes: [ErasureScope]) {
        guard !configuration.server.development else { return }
        for scope in scopes where scope.ledger == nil {
            logger.notice(
                "no deletion.ledger: a restored backup brings back whoever was erased after it was made",
                metadata: ["application": "\(scope.application.name)"])
        }
    }
}
