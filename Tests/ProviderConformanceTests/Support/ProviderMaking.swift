import Foundation
import GatehouseTesting
import ProviderKit

extension Provider {
    /// Makes a provider from settings, which are decoded as in the server.
    static func made(
        of settings: [String: JSONValue], exposing claims: [String] = [], service: ScriptedService, now: Date
    ) throws -> Self {
        let data = try JSONEncoder().encode(JSONValue.object(settings.filter { !$1.isNull }))
        let context = ProviderContext(
            name: kind, applicationURL: "https://id.example", audience: "conformance",
            exposedClaims: claims, ports: ConformancePorts.make(http: service, now: { now }))
        return try Self(settings: JSONDecoder().decode(Settings.self, from: data), context: context)
    }
}

extension DirectProvider {
    /// Verifies a request body.
    func verify(
        body: [String: JSONValue], from origin: RequestOrigin = RequestOrigin(peer: nil)
    ) async throws -> VerifiedIdentity {
        let data = try JSONEncoder().encode(JSONValue.object(body))
        return try await verify(JSONDecoder().decode(Credential.self, from: data), from: origin)
    }
}
