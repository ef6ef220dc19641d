internal import Foundation

/// One request to a service, whose response several checks look at.
public actor ServiceVisit {
    private let request: FetchRequest
    private let tools: DiagnosticTools
    private var answer: (result: Result<FetchResponse, ProviderFinding>, at: Date)?

    /// Creates a visit; the request is sent when the first check needs its response.
    public init(_ request: FetchRequest, with tools: DiagnosticTools) { (self.request, self.tools) = (request, tools) }

    /// The response, or why there is none.
    public var result: Result<FetchResponse, ProviderFinding> {
        get async { await visited().result }
    }

    private func visited() async -> (result: Result<FetchResponse, ProviderFinding>, at: Date) {
        if let answer { return answer }
        let result: Result<FetchResponse, ProviderFinding>
        do throws(ProviderFinding) {
            result = .success(try await tools.service.fetch(request))
        } catch {
            result = .failure(error)
        }
        let answer = (result, tools.now())
        self.answer = answer
        return answer
    }

    /// The checks `name` and `tls`.
    public nonisolated var reachability: [ProviderCheck] {
        [
            ProviderCheck("name") { await self.checkName() },
            ProviderCheck("tls", after: ["name"]) { await self.checkTLS() },
        ]
    }

    /// The check `clock`, against the header `Date` (RFC 9110, 6.6.1).
    public nonisolated var clock: ProviderCheck {
        ProviderCheck("clock", after: ["name"]) { await self.checkClock() }
    }

    private func checkName() async -> CheckOutcome {
        do throws(ProviderFinding) {
            try await tools.service.resolve(request.url)
            return .ok("The host name resolves, and the server may call its addresses.")
        } catch {
            return .failed(error)
        }
    }

    private func checkTLS() async -> CheckOutcome {
        guard request.url.hasPrefix("https:") else {
            return .warning("The service is called without TLS.", remedy: ProviderFinding.upstreamInsecure.remedy)
        }
        switch await result {
        case .success, .failure(.upstreamTooLarge), .failure(.upstreamRedirected):
            return .ok("The certificate is valid for the name, and of a trusted authority.")
        case .failure(.upstreamUntrusted): return .failed(.upstreamUntrusted)
        case .failure: return .skipped("There was no response, so TLS could not be checked.")
        }
    }

    private func checkClock() async -> CheckOutcome {
        let (result, now) = await visited()
        guard case .success(let response) = result, let text = response.headers["date"], let date = Date(http: text)
        else { return .skipped("The service has not sent its time.") }
        // A response of a cache has the time at which the service sent it.
        let age = response.headers["age"].flatMap(Double.init) ?? 0
        let difference = now.timeIntervalSince(date) - max(0, min(age, 86_400))
        let evidence = "\(Int(abs(difference).rounded())) s \(difference < 0 ? "behind" : "ahead")"
        switch abs(difference) {
        case ..<5: return .ok("This server's clock agrees with the service's.", evidence: evidence)
        case ..<60:
            let finding: ProviderFinding = difference < 0 ? .clockBehind : .clockAhead
            return .warning(finding.sentence, remedy: finding.remedy, evidence: "\(finding.rawValue): \(evidence)")
        default: return .failed(difference < 0 ? .clockBehind : .clockAhead, evidence: evidence)
        }
    }
}

extension Date {
    /// Reads the preferred form of a date in HTTP (RFC 9110, 5.6.7), as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    fileprivate init?(http text: String) {
        guard text.utf8.count <= 40 else { return nil }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = formatter.date(from: text) else { return nil }
        self = date
    }
}
