internal import Foundation
internal import ProviderKit

/// Fetches an issuer's discovery document when it is first needed, and caches it.
///
/// The document is cached for an hour, or as long as the issuer states, up to a day. For a further day, it is used while
/// a task fetches it again, so that an issuer that does not answer delays no sign-in. An older document is used only if
/// it cannot be fetched again. Concurrent callers share a request; a failed one is not repeated within two seconds.
actor Discovery {
    /// How long callers get an expired document without waiting for the fetch of the next one.
    private static let grace: TimeInterval = 86_400

    nonisolated let url: String
    /// The issuers that the document may name.
    nonisolated let accepted: [String]
    private let ports: ProviderPorts
    private var kept: (document: IssuerDocument, until: Date)?
    private var retryAt = Date.distantPast
    private var reading: Task<IssuerDocument, any Error>?

    /// Creates a cache; the document's issuer must be in `accepted`, so that no issuer can impersonate another.
    init(issuer: String, accepted: [String], ports: ProviderPorts) {
        url = issuer.withoutTrailingSlash + "/.well-known/openid-configuration"
        (self.accepted, self.ports) = (accepted, ports)
    }

    /// - Throws: `ProviderError.unavailable`.
    func document() async throws -> IssuerDocument {
        let now = ports.now()
        if let kept, now < kept.until { return kept.document }
        guard now >= retryAt else { return try old() }
        // An unstructured task: other requests use the result, and the end of this request must not cancel the fetch.
        let reading = self.reading ?? Task { try await read() }
        self.reading = reading
        if let kept, now < kept.until.addingTimeInterval(Self.grace) { return kept.document }
        do {
            return try await reading.value
        } catch {
            return try old()
        }
    }

    private func read() async throws -> IssuerDocument {
        defer { reading = nil }
        do {
            let response = try await ports.http.fetch(.get(url))
            guard response.isSuccess, let json = response.json else {
                if response.status < 500 { ports.findings.note(.upstreamUnusable) }
                throw ProviderError.unavailable
            }
            let document = try document(json)
            let lifetime = response.lifetime(in: 3600...86_400, standard: 3600)
            kept = (document, ports.now().addingTimeInterval(lifetime.inSeconds))
            return document
        } catch {
            retryAt = ports.now().addingTimeInterval(2)
            throw error
        }
    }

    private func document(_ json: JSONValue) throws -> IssuerDocument {
        do {
            return try IssuerDocument(json, from: accepted)
        } catch {
            let isOther = json["issuer"].string.map { !accepted.containsBytes(of: $0) } ?? false
            ports.findings.note(isOther ? .issuerMismatch : .upstreamUnusable)
            throw error
        }
    }

    private func old() throws -> IssuerDocument {
        guard let kept else { throw ProviderError.unavailable }
        return kept.document
    }
}
