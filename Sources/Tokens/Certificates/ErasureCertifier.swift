package import Accounts
import Foundation
import ProviderKit

/// Signs certificates of erasure as a JWS with `typ: erasure+jwt`, with a key that is used only for certificates.
package struct ErasureCertifier: ErasureCertification {
    private let keys: KeyRing

    package init(keys: KeyRing) { self.keys = keys }

    package func signer(for application: Application) async throws -> @Sendable (ErasureCertificate) throws -> String {
        let key = try await keys.certifyingKey(of: application.id)
        let issuer = application.issuer
        return { certificate in
            try key.token(JSONEncoder.stable.encode(certificate.payload(issuer: issuer)), type: "erasure+jwt")
        }
    }
}

extension ErasureCertificate {
    fileprivate func payload(issuer: String) -> [String: JSONValue] {
        [
            "iss": .string(issuer), "iat": .integer(Int64(erasedAt.timeIntervalSince1970)),
            "receipt": .string(receipt.text), "uid": .string(uid.text),
            "aliases": .array(erased.aliases.map { .string($0.text) }),
            "requestedAt": .string(requestedAt.precise), "erasedAt": .string(erasedAt.precise),
            "erased": .object(erased.counts.mapValues { .integer(Int64($0)) }),
            "processors": .array(processors.map { .object($0.payload) }),
        ]
    }
}

extension Processor {
    fileprivate var payload: [String: JSONValue] {
        switch status {
        case .pending: ["name": .string(name), "status": "pending"]
        case .acknowledged(let date):
            ["name": .string(name), "status": "acknowledged", "acknowledgedAt": .string(date.precise)]
        case .unreachable: ["name": .string(name), "status": "unreachable"]
        }
    }
}
