import Foundation
import GatehouseTesting
import MobileNetworkProvider
import ProviderKit

/// An operator with a gateway and a key.
struct Carrier {
    static let gateway = "10.1.2.3"

    let now = Date(timeIntervalSince1970: 1_800_000_000)
    let authority: TestAuthority
    let service = ScriptedService()

    init() throws {
        authority = try TestAuthority(.es256, keyID: "carrier-1")
        let keys = authority.keySet
        service.answer("https://carrier.example/keys") { _ in .json(keys) }
    }

    var header: [String: JSONValue] { ["gateways": ["10.1.0.0/16", "fd00:1::/32"], "header": "X-MSISDN"] }
    var assertions: [String: JSONValue] {
        ["issuer": "https://carrier.example", "jwksURL": "https://carrier.example/keys"]
    }

    func claims(_ changes: [String: JSONValue] = [:]) -> [String: JSONValue] {
        let now = Int64(now.timeIntervalSince1970)
        let claims: [String: JSONValue] = [
            "iss": "https://carrier.example", "aud": "conformance", "phone_number": "+33612345678",
            "iat": .integer(now), "exp": .integer(now + 300), "jti": "a-1",
        ]
        return claims.merging(changes) { $1 }.filter { !$1.isNull }
    }

    func provider(_ settings: [String: JSONValue]) throws -> MobileNetworkProvider {
        try MobileNetworkProvider.made(of: settings, service: service, now: now)
    }

    /// Returns a request from a peer with these headers.
    static func request(from peer: String?, _ headers: [String: [String]] = [:]) -> RequestOrigin {
        RequestOrigin(peer: peer) { name in headers.first { $0.key.lowercased() == name.lowercased() }?.value ?? [] }
    }
}
