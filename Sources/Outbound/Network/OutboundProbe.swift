internal import ProviderKit

/// Calls to the service behind a provider on behalf of an administrator.
///
/// They are under the rules for destinations of all calls, but belong to no owner, so that they neither open a circuit
/// nor wait for one, and count nowhere.
struct OutboundProbe: ServiceProbing {
    let exchange: Exchange

    func fetch(_ request: FetchRequest) async throws(ProviderFinding) -> FetchResponse {
        do {
            return try await exchange.run(request, to: exchange.destination(of: request))
        } catch {
            throw finding(of: error)
        }
    }

    func resolve(_ url: String) async throws(ProviderFinding) {
        do {
            try await exchange.resolve(exchange.destination(of: .get(url)))
        } catch {
            throw finding(of: error)
        }
    }

    private func finding(of error: any Error) -> ProviderFinding {
        (error as? OutboundFailure)?.finding ?? .upstreamInterrupted
    }
}

extension OutboundFailure {
    /// The failure as a finding about the service; `nil` if it says nothing about it.
    var finding: ProviderFinding? {
        switch self {
        case .invalidURL: .upstreamURL
        case .plainHTTP: .upstreamInsecure
        case .privateAddress: .upstreamPrivate
        case .unresolvable: .upstreamUnresolved
        case .notConnected: .upstreamUnreachable
        case .untrusted: .upstreamUntrusted
        case .interrupted: .upstreamInterrupted
        case .timedOut: .upstreamTimeout
        case .tooLarge: .upstreamTooLarge
        case .redirected: .upstreamRedirected
        case .crowded: .upstreamCrowded
        case .circuitOpen: .upstreamPaused
        case .invalidHeader, .shutDown, .abandoned: nil
        }
    }
}
