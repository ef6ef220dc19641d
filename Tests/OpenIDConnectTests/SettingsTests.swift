import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

struct SettingsTests {
    private let world = World()

    @Test func `settings that contradict each other`() {
        let cases: [(String, (inout OpenIDConnectProvider.Settings) -> Void)] = [
            ("issuer", { $0.issuer = "https://id.example?x=1" }), ("issuer", { $0.issuer = "https://id.example#x" }),
            ("clientID", { $0.clientID = "" }),
            ("hostedDomains", { $0.hostedDomains = [] }), ("tenants", { $0.tenants = [] }),
            ("claims", { $0.claims = ["providerUid": nil] }), ("claims", { $0.claims = ["email": ""] }),
        ]
        for (setting, change) in cases {
            let error = #expect(throws: SettingsError.self) { try world.provider(change) }
            #expect(error?.setting == setting)
        }
    }

    @Test(
        arguments: [
            (["email": "mail"], "client", "claims"), (["providerUid": nil], "client", "claims"),
            (["providerUid": "id"], "", "clientID"),
        ] as [([String: String?], String, String)])
    func `invalid settings of a plain service`(_ claims: [String: String?], _ clientID: String, _ setting: String) {
        let settings = OAuth2Provider.Settings(
            authorizationEndpoint: "https://a.example", tokenEndpoint: "https://a.example",
            userInfoEndpoint: "https://a.example", clientID: clientID, clientSecret: "s", claims: claims)
        let error = #expect(throws: SettingsError.self) {
            try OAuth2Provider(settings: settings, context: world.context)
        }
        #expect(error?.setting == setting)
    }

    @Test(arguments: [
        "state", "nonce", "redirect_uri", "scope", "response_type", "response_mode", "code_challenge", "client_id",
        "client_secret", "client_assertion", "request", "request_uri", "State", "REDIRECT_URI", "redirect.uri",
        "state[]", "", "a b", "é", String(repeating: "a", count: 65),
    ])
    func `no setting has parameters of the protocol, or names that a service may take for them`(_ name: String) {
        let error = #expect(throws: SettingsError.self) { try world.provider { $0.forward = ["login_hint", name] } }
        #expect(error?.setting == "forward")
        let fixed = #expect(throws: SettingsError.self) {
            try world.provider { $0.authorizationParameters = [name: "x"] }
        }
        #expect(fixed?.setting == "authorizationParameters")
        for key in ["forward", "authorizationParameters"] {
            let value = key == "forward" ? "[\"\(name)\"]" : "{\"\(name)\": \"x\"}"
            let settings = #"{"clientID": "c", "clientSecret": "s", "\#(key)": \#(value)}"#
            for type in [ReadyProvider<Google>.self, ReadyProvider<GitHub>.self] as [any Provider.Type] {
                let error = #expect(throws: SettingsError.self) { _ = try makeProvider(type, settings, in: world) }
                #expect(error?.setting == key)
            }
        }
    }

    @Test func `an app cannot replace a fixed parameter, and a fixed one has a value`() {
        let error = #expect(throws: SettingsError.self) {
            try world.provider { ($0.authorizationParameters, $0.forward) = (["acr_values": "2"], ["acr_values"]) }
        }
        #expect(error?.setting == "forward")
        for value in [nil, ""] as [String?] {
            let error = #expect(throws: SettingsError.self) {
                try world.provider { $0.authorizationParameters = ["acr_values": value] }
            }
            #expect(error?.setting == "authorizationParameters")
        }
    }

    @Test func `presets take them too`() throws {
        let settings = #"{"clientID": "c", "clientSecret": "s", "forward": ["login_hint"]}"#
        for type in ReadyProviders.all {
            let provider = try makeProvider(type, settings, in: world) as? any RedirectProvider
            #expect(provider?.forwardedParameters == ["login_hint"], "\(type.kind)")
        }
    }

    @Test func `every preset has a unique kind and takes an id and a secret`() throws {
        let own: [any Provider.Type] = [OpenIDConnectProvider.self, OAuth2Provider.self]
        let kinds = (own + ReadyProviders.all).map { $0.kind }
        #expect(Set(kinds).count == kinds.count)
        for type in ReadyProviders.all {
            _ = try makeProvider(type, #"{"clientID": "c", "clientSecret": "s"}"#, in: world)
            #expect(type.flow == .redirect)
        }
    }

    @Test func `a preset shows the settings that mean something to it`() {
        func names(_ type: (some Provider).Type) -> Set<String> { Set(type.settings.fields.map(\.name)) }
        #expect(names(ReadyProvider<Google>.self).contains("hostedDomains"))
        #expect(names(ReadyProvider<Microsoft>.self).contains("tenants"))
        #expect(names(ReadyProvider<GitLab>.self).isDisjoint(with: ["hostedDomains", "tenants", "issuer"]))
        #expect(names(ReadyProvider<GitHub>.self).contains("baseURL"))
    }
}

extension Provider {
    fileprivate static var settings: SettingsSchema { Settings.schema }
}

/// Makes a provider from settings in the form of the configuration.
func makeProvider<P: Provider>(_ type: P.Type, _ settings: String, in world: World) throws -> P {
    try P(settings: JSONDecoder().decode(P.Settings.self, from: Data(settings.utf8)), context: world.context)
}
