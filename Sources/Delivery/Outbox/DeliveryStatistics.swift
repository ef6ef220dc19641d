/// What one worker has done since it was made.
package struct DeliveryStatistics: Sendable, Equatable {
    /// Messages that the next hop took.
    package var sent = 0
    /// Attempts that failed and are to be repeated.
    package var failed = 0
    /// Messages that nobody will try again.
    package var givenUp = 0
    /// Messages taken from the queue and not yet marked; what still waits there only the queue knows.
    package var inFlight = 0

    package init() {}
}
