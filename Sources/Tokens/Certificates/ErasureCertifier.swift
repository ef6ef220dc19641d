package import Accounts
import Foundation
import ProviderKit

/// Signs certificates of erasure as a JWS with `typ: erasure+jwt`, with a key that is used only for certificates.
package struct ErasureCertifier: ErasureCertification {
    private let keys: KeyRing

    package init(keys: KeyRing) { self.keys = keys }

    fileprivate struct Payload: Encodable {
        struct Processor: Encodable {
            let name: String
            let status: String
            let acknowledgedAt: String?
        }

        let iss: String
        let iat: Int
        let receipt: String
        let uid: String
        /// The uids of accounts that were merged into this one.
        let aliases: [String]
        let requestedAt: String
        let erasedAt: String
        let erased: [String: Int]
        let processors: [Processor]
    }

    package func signer(for application: Application) async throws -> @Sendable (ErasureCertificate) throws -> String {
        let key = try await keys.certifyingKey(of: application.id)
        let issuer = application.issuer
        return { certificate in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let header = #"{"alg":"\#(key.algorithm.rawValue)","kid":"\#(key.kid)","typ":"erasure+jwt"}"#
            let payload = try encoder.encode(Payload(certificate, issuer: issuer))
            let input = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(payload))"
            return "\(input).\(Base64URL.encode(try key.sign(Array(input.utf8))))"
        }
    }
}

extension ErasureCertifier.Payload {
    fileprivate init(_ certificate: ErasureCertificate, issuer: String) {
        iss = issuer
        iat = Int(certificate.erasedAt.timeIntervalSince1970)
        receipt = certificate.receipt.text
        uid = certificate.uid.text
        aliases = certificate.erased.aliases.map(\.text)
        requestedAt = certificate.requestedAt.precise
        erasedAt = certificate.erasedAt.precise
        erased = certificate.erased.counts
        processors = certificate.processors.map(Processor.init)
    }
}

extension ErasureCertifier.Payload.Processor {
    fileprivate init(_ processor: Processor) {
        name = processor.name
        switch processor.status {
        case .pending: (status, acknowledgedAt) = ("pending", nil)
        case .acknowledged(let date): (status, acknowledgedAt) = ("acknowledged", date.precise)
        case .unreachable: (status, acknowledgedAt) = ("unreachable", nil)
        }
    }
}
