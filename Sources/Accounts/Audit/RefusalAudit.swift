internal import ProviderKit

/// The source of a refusal without an account, counted per network, route and minute, so that none fills the audit.
package struct RefusalSource: Sendable, Equatable {
    /// The keyed pseudonym of the client's address or IPv6 /64.
    package let network: [UInt8]
    package let route: String
    /// The name of the dialect that the route belongs to, if any.
    package let dialect: String?
}

extension OpaqueTokens {
    func refusalSource(of client: Client) -> RefusalSource {
        RefusalSource(network: networkPseudonym(of: client), route: client.route, dialect: client.dialect)
    }

    /// The keyed pseudonym of a client's address or IPv6 /64, as the audit contains it.
    package func networkPseudonym(of client: Client) -> [UInt8] {
        pseudonym(of: client.network, purpose: "client network")
    }
}

/// Records the refusals that no use case records itself.
package struct RefusalAudit: Sendable {
    let trail: any AuditTrail
    let opaque: any OpaqueTokens

    package func record(_ entry: AuditEntry, from client: Client, in application: Application) async throws {
        var entry = entry
        entry.source = opaque.refusalSource(of: client)
        try await trail.record(entry, application: application.id)
    }
}
