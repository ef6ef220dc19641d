/// Carries text messages away.
package protocol TextTransport: Sendable {
    /// Returns once the gateway has taken responsibility for the message.
    ///
    /// Returns early on cancellation. The same message may come again, with the same `id`.
    ///
    /// - Throws: `DeliveryError`, or `CancellationError`; anything else counts as transient.
    func send(_ message: TextMessage) async throws
}
