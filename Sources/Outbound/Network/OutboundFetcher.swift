internal import Logging
internal import ProviderKit

/// The network access of one owner, which is a provider of an application.
struct OutboundFetcher: HTTPFetching {
    let record: OwnerRecord
    let exchange: Exchange
    let log: OutboundLog
    let findings: any FindingNoting

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        let url: UpstreamURL
        let permit: OwnerRecord.Permit
        do {
            url = try exchange.destination(of: request)
            permit = try record.enter(url.upstream)
        } catch {
            record.countRefusal()
            log.failed(record.owner, upstream: nil, error)
            error.finding.map(findings.note)
            throw ProviderError.unavailable
        }
        do {
            let response = try await exchange.run(request, to: url)
            let isSuccess = response.status < 500
            leave(permit, outcome: isSuccess ? .answered : .failed, isSuccess: isSuccess)
            if !isSuccess { findings.note(.upstreamError) }
            return response
        } catch {
            let failure = failure(of: error)
            leave(permit, outcome: failure.outcome, isSuccess: failure == .abandoned ? nil : false)
            log.failed(record.owner, upstream: url.upstream, failure)
            failure.finding.map(findings.note)
            throw ProviderError.unavailable
        }
    }

    /// Converts an error; after a cancellation, an error is no evidence about the upstream.
    private func failure(of error: any Error) -> OutboundFailure {
        Task.isCancelled ? .abandoned : error as? OutboundFailure ?? .interrupted
    }

    private func leave(_ permit: OwnerRecord.Permit, outcome: CircuitBreaker.Outcome, isSuccess: Bool?) {
        if let change = record.leave(permit, outcome: outcome, isSuccess: isSuccess) {
            log.changed(record.owner, upstream: permit.upstream, to: change)
        }
    }
}

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
