import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// A device that shows a code and polls the token endpoint (RFC 8628).
struct Device: Sendable {
    /// The clients of `RelyingParty`, and two for devices: `tv` of the operator, and `radio` of somebody else.
    static let configuration = RelyingParty.configuration.replacing(
        "openid:\n  clients:\n",
        with: """
            openid:
              clients:
                tv:
                  name: { en: Photos TV, de: Fernseher }
                  public: true
                  grants: [device_code, refresh_token]
                  firstParty: true
                  scopes: [openid, email, offline_access]
                radio:
                  name: Radio
                  secret: "\(RelyingParty.secret)"
                  grants: [device_code, refresh_token]
                  scopes: [openid, email, offline_access]
                  resources: ["https://api.photos.example"]

            """)

    let client: RelyingParty
    private let tokenEndpoint: String
    /// What the device got.
    let answer: APIClient.Answer

    var deviceCode: String { answer["device_code"].string ?? "" }
    var userCode: String { answer["user_code"].string ?? "" }

    /// Begins the request of a device with the client `tv` or `radio`; `isOfBlitz` says at which issuer.
    init(
        _ server: TestServer, client: String = "tv", application: String? = nil, isOfBlitz: Bool = false,
        _ parameters: [String: String] = [:]
    ) async throws {
        self.client = Self.client(client, at: server, application: application)
        tokenEndpoint = isOfBlitz ? "/blitz/oauth/te" : "/oauth/token"
        answer = try await self.client.post(isOfBlitz ? "/blitz/oauth/da" : "/oauth/device", parameters)
        try #require(answer.status == 200, "\(answer.text)")
    }

    static func client(_ id: String, at server: TestServer, application: String? = nil) -> RelyingParty {
        var client = RelyingParty(server, application: application)
        (client.client, client.secret) = (id, id == "tv" ? nil : RelyingParty.secret)
        return client
    }

    func poll(_ others: [String: String] = [:], at endpoint: String? = nil) async throws -> APIClient.Answer {
        let grant = "urn:ietf:params:oauth:grant-type:device_code"
        return try await client.post(
            endpoint ?? tokenEndpoint, ["grant_type": grant, "device_code": deviceCode].merging(others) { $1 })
    }

    /// Polls after the device has waited as long as it must.
    func pollInTime(_ others: [String: String] = [:]) async throws -> APIClient.Answer {
        try await client.server.waitToPoll()
        return try await poll(others)
    }
}

extension PageBrowser {
    /// Types the code of a device at the page of devices.
    mutating func enter(_ code: String) async throws -> View {
        let page = try await open("/device")
        try #require(page.step == "device", "\(page.status) \(page.text)")
        return try await submit("continue", ["user_code": code], of: page)
    }

    /// Types the code of a device, and signs in if that is asked for; shows the page that asks whether to allow it.
    mutating func confirm(_ device: Device, as person: Person) async throws -> View {
        let page = try await enter(device.userCode)
        let confirm = page.step == "signin" ? try await signIn(person, at: page) : page
        try #require(confirm.step == "device-confirm", "\(confirm.status) \(confirm.text)")
        return confirm
    }

    /// Allows a device, as a person who is signed in afterwards.
    mutating func allow(_ device: Device, as person: Person) async throws {
        let done = try await submit("allow", of: confirm(device, as: person))
        try #require(done.status == 200 && done.step == "done", "\(done.status) \(done.text)")
    }
}

extension TestServer {
    /// Makes the last poll of every device old, or so new that the next one is too early.
    func waitToPoll() async throws {
        try await execute("UPDATE handoffs SET polled_at = now() - interval '1 hour' WHERE polled_at IS NOT NULL")
    }

    func hastenPolls() async throws { try await execute("UPDATE handoffs SET polled_at = now() + interval '1 hour'") }
}
