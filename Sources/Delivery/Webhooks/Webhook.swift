package import Accounts
internal import Foundation

/// A system that is told of account events, as Standard Webhooks has it
/// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
package struct Webhook: Sendable {
    /// What its deliveries are known by.
    package let url: String
    /// What people read of it.
    package let name: String
    package let events: Set<AccountEvent.Kind>
    let endpoint: HTTPEndpoint
    /// What its events are signed with.
    let key: [UInt8]

    /// - Throws: `DeliveryError.invalidSetting` for a URL that is none, or a secret that is not `whsec_` and base64.
    package init(
        name: String, url: String, secret: String, events: Set<AccountEvent.Kind>
    ) throws(DeliveryError) {
        let prefix = "whsec_"
        guard secret.hasPrefix(prefix), let key = Data(base64Encoded: String(secret.dropFirst(prefix.count))),
            !key.isEmpty
        else { throw .invalidSetting(field: "webhooks.secret", reason: "is not whsec_ and base64") }
        endpoint = try HTTPEndpoint(url, field: "webhooks.url")
        self.url = url
        self.name = name
        self.events = events
        self.key = Array(key)
    }
}

extension Webhook: CustomStringConvertible, CustomReflectable {
    package var description: String { name }

    /// Neither the secret nor the URL, which may hold a login.
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
