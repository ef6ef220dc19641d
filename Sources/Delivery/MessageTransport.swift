/// Carries a composed mail away.
package protocol MessageTransport: Sendable {
    /// Returns once the next hop has taken responsibility for the mail.
    ///
    /// Returns early on cancellation. The same mail may come again, with the same `id`.
    ///
    /// - Throws: `DeliveryError`, or `CancellationError`; anything else counts as transient.
    func send(_ mail: Mail) async throws
}
