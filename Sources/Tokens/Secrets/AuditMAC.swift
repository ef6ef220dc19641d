package import Accounts
import Crypto
internal import ProviderKit

/// Authenticates batches of audit events with a key derived from the root key.
package struct AuditMAC: AuditAuthentication {
    private let key: SymmetricKey

    package init(rootKey: RootKey) { key = rootKey.key(for: .audit) }

    package func digest(of events: [AuditEvent]) -> [UInt8] {
        var hash = SHA256()
        for event in events { hash.update(data: Self.encode(event)) }
        return Array(hash.finalize())
    }

    package func mac(of batch: AuditBatch) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Self.encode(batch), using: key))
    }

    package func isMAC(_ mac: [UInt8], of batch: AuditBatch) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(mac, authenticating: Self.encode(batch), using: key)
    }

    /// Encodes each event as the same number of texts, with different encodings for an absent and an empty value.
    private static func encode(_ event: AuditEvent) -> [UInt8] {
        Framing.encode([
            String(event.application.rawValue), event.id.text, String(event.at), event.event,
            event.account.map { "=\($0.hex)" } ?? "", event.session.map { "=\($0.text)" } ?? "", event.details,
        ])
    }

    /// Encodes a batch; a batch from an earlier version has no sealing time, and its encoding has one text less.
    private static func encode(_ batch: AuditBatch) -> [UInt8] {
        Framing.encode(
            [
                String(batch.seq), batch.previous.hex, String(batch.firstAt), String(batch.lastAt),
                String(batch.events), batch.digest.hex,
            ] + (batch.sealedAt.map { [String($0)] } ?? []))
    }
}
