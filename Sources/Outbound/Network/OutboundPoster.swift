internal import ProviderKit

/// The network access of deliveries.
///
/// It has no circuit breaker, because the queues have a retry schedule.
struct OutboundPoster: HTTPPosting {
    let exchange: Exchange

    func post(_ request: FetchRequest, within deadline: Duration) async throws -> Int {
        do {
            return try await exchange.status(of: request, to: exchange.destination(of: request), within: deadline)
        } catch {
            try Task.checkCancellation()
            throw (error as? OutboundFailure ?? .interrupted).obstacle
        }
    }
}
