internal import ProviderKit

/// Where a refusal comes from that names no account.
///
/// Such refusals are counted for each network, route and minute, and become one audit event when the minute is over:
/// requests that anyone can send must not fill the audit.
package struct RefusalSource: Sendable, Equatable {
    /// The client's address or IPv6 /64, by a keyed pseudonym.
    package let network: [UInt8]
    package let route: String
}

extension OpaqueTokens {
    func refusalSource(of client: Client) -> RefusalSource {
        RefusalSource(network: pseudonym(of: client.network, purpose: "client network"), route: client.route)
    }
}

/// Writes down refusals that no use case has recorded.
package struct RefusalAudit: Sendable {
    let trail: any AuditTrail
    let opaque: any OpaqueTokens

    package func record(_ entry: AuditEntry, from client: Client, in application: Application) async throws {
        var entry = entry
        entry.source = opaque.refusalSource(of: client)
        try await trail.record(entry, application: application.id)
    }
}
