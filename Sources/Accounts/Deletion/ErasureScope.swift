package struct ErasureScope: Sendable {
    package let application: Application
    /// How long an erasure waits for the acknowledgements of its processors.
    package let webhookDeadline: Duration
    package let anonymousRetention: Duration
    /// The ledger to which erasures are written; `nil` if none is configured.
    package let ledger: (any ErasureLedger)?

    package init(
        application: Application, webhookDeadline: Duration, anonymousRetention: Duration, ledger: (any ErasureLedger)?
    ) {
        (self.application, self.webhookDeadline) = (application, webhookDeadline)
        (self.anonymousRetention, self.ledger) = (anonymousRetention, ledger)
    }
}
