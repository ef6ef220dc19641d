package import Accounts

/// What the use cases of administrators need from the running server, besides the database.
package struct ServerPorts: Sendable {
    let webhooks: any WebhookDirectory
    let keys: any SigningKeyChanges
    let chain: any AuditChainStore
    let limits: any LiftableLimits
    let configuration: any ConfigurationInForce

    package init(
        webhooks: any WebhookDirectory, keys: any SigningKeyChanges, chain: any AuditChainStore,
        limits: any LiftableLimits, configuration: any ConfigurationInForce
    ) {
        (self.webhooks, self.keys, self.chain, self.limits) = (webhooks, keys, chain, limits)
        self.configuration = configuration
    }
}
