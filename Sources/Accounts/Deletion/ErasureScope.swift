/// An application as erasure sees it.
package struct ErasureScope: Sendable {
    package let application: Application
    /// How long an erasure waits for whom it has told.
    package let webhookDeadline: Duration
    /// How long a guest may stay unheard of.
    package let anonymousRetention: Duration
    /// None where the configuration names none.
    package let ledger: (any ErasureLedger)?

    package init(
        application: Application, webhookDeadline: Duration, anonymousRetention: Duration,
        ledger: (any ErasureLedger)?
    ) {
        self.application = application
        self.webhookDeadline = webhookDeadline
        self.anonymousRetention = anonymousRetention
        self.ledger = ledger
    }
}
