import Accounts
import Delivery
import Outbound
import Passwords
import ProviderKit
import Testing

@testable import GatehouseServer

/// A sample configuration with every section.
struct ContractSampleTests {
    private static let sample = #"""
        server:   { host: 127.0.0.1, port: 8080, publicURL: "http://127.0.0.1:8080", development: true, trustedProxies: [] }
        database: { url: "postgresql://gatehouse@127.0.0.1:5432/gatehouse", connections: 8 }
        secrets:  { masterKey: "${GATEHOUSE_MASTER_KEY}" }          # 32 bytes, base64; `dev` makes one
        network:  { allowPrivateHosts: false }
        passwords: { argon2: { memoryKiB: 65536, iterations: 2, parallelism: 4 }, minimumLength: 8 }
        rateLimits: { login: 5/min, refresh: 30/min, apple: 10/min, logout: 10/min, forgotPassword: 3/h, otpSend: 5/h, register: 10/min, anonymous: 10/min }
        delivery:
          email: { from: "Demo <no-reply@demo.example>", smtp: "smtp://127.0.0.1:2525" }
          sms:   { url: "http://127.0.0.1:9000/sms" }
        webhooks: [ { url: "http://127.0.0.1:9100/hooks", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", events: ["account.deleted", "account.erased", "identity.linked"] } ]
        defaultApplication: demo
        applications:
          demo:
            hosts: []
            audience: demo
            origins: ["http://localhost:3000"]
            redirectURIs: ["demo://oauth/callback", { uri: "timetracker://oauth/callback", pkce: false }]
            tokens: { algorithm: RS256, accessLifetime: 3600, refreshLifetime: 2592000, refreshReuseInterval: 10 }
            recentAuthentication: 300
            revealExistingIdentities: false
            linking: { automatic: verified }
            deletion: { gracePeriod: 30d }
            providers:
              anonymous: { enabled: true }
              email:     { enabled: true, verificationLink: "https://demo.example/verify", resetLink: "https://demo.example/reset" }
              phone:     { enabled: true, allowedCountries: ["FR", "DE"] }
              apple:     { enabled: true, clientIDs: ["net.example.app"], teamID: T, keyID: K, privateKey: "file:apple.p8", baseURL: "https://appleid.apple.com" }
              google:    { kind: oidc, enabled: true, issuer: "https://accounts.google.com", clientID: ..., clientSecret: ..., trustEmail: true }
              corp:      { kind: oauth2, enabled: true, authorizationEndpoint: "https://corp.example/a", tokenEndpoint: "https://corp.example/t", userInfoEndpoint: "https://corp.example/u", clientID: ..., clientSecret: ..., scopes: [email, profile], claims: { providerUid: id, email: mail, emailVerified: null, displayName: name } }
              custom:    { kind: custom-token, enabled: true, issuer: "https://legacy.example", audience: demo, jwks: "file:keys.json", algorithms: [RS256, ES256] }
              carrier:   { kind: mobile-network, enabled: false, gateways: ["10.1.0.0/16"], header: "X-MSISDN" }
        """#

    private let directory: TemporaryDirectory
    let configuration: Configuration

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n", to: "apple.p8")
        try directory.write("{\"keys\":[]}\n", to: "keys.json")
        let path = try directory.write(Self.sample)
        configuration = try Configuration.load(
            path: path, environment: ["GATEHOUSE_MASTER_KEY": Fixture.masterKey], installed: Fixture.installed)
    }

    @Test func `the top of the file`() {
        #expect(configuration.server.publicURL == "http://127.0.0.1:8080")
        #expect(configuration.server.development)
        #expect(configuration.database.connections == 8)
        #expect(configuration.secrets.masterKey.value == Fixture.masterKey)
        #expect(configuration.passwords.argon2.memoryKiB == 65_536)
        #expect(configuration.rateLimits == .standard)
        #expect(RateLimit.allCases.allSatisfy { configuration.rateLimits[$0] != nil })
        #expect(configuration.rateLimits[.general] == Rate(300, per: .seconds(60)))
        #expect(configuration.delivery.email?.from.displayName == "Demo")
        #expect(configuration.delivery.email?.from.address.value == "no-reply@demo.example")
        #expect(configuration.delivery.email?.smtp.port == 2525)
        #expect(configuration.delivery.sms?.url.value == "http://127.0.0.1:9000/sms")
        #expect(configuration.webhooks.first?.events == [.accountDeleted, .accountErased, .identityLinked])
        #expect(configuration.defaultApplication == "demo")
    }

    @Test func `the application`() throws {
        let demo = try #require(configuration.application(named: "demo"))
        #expect(demo.policy == ApplicationPolicy())
        #expect(demo.url == "http://127.0.0.1:8080")
        #expect(demo.origins == ["http://localhost:3000"])
        #expect(demo.redirectURIs.map(\.uri) == ["demo://oauth/callback", "timetracker://oauth/callback"])
        #expect(demo.redirectURIs.map(\.requiresPKCE) == [true, false])
        let domain = demo.application(id: 3)
        #expect(domain.id == 3 && domain.issuer == demo.url && domain.audience == "demo")
    }

    @Test func `its providers, in the order of the file`() throws {
        let providers = try #require(configuration.application(named: "demo")).providers
        #expect(
            providers.all.map(\.name) == [
                "anonymous", "email", "phone", "apple", "google", "corp", "custom", "carrier",
            ])
        #expect(
            providers.all.filter { $0.mode != .off }.map(\.kind) == [
                "anonymous", "email", "phone", "apple", "oidc", "oauth2", "custom-token",
            ])
        let apple = try #require(try providers.named("apple").provider as? AppleFake)
        #expect(apple.settings.privateKey == "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----")
        let google = try #require(try providers.named("google").provider as? OIDCFake)
        #expect(google.settings.trustEmail == true && google.context.name == "google")
        let corp = try #require(try providers.named("corp").provider as? OAuth2Fake)
        let claims: [String: String?] = [
            "providerUid": "id", "email": "mail", "emailVerified": nil, "displayName": "name",
        ]
        #expect(corp.settings.claims == claims)
    }

    @Test func `a provider that is off is disabled, not unknown, though it lacks settings`() throws {
        let providers = try #require(configuration.application(named: "demo")).providers
        #expect(providers.all.last?.provider == nil)
        #expect { _ = try providers.named("carrier") } throws: { error in
            if case .providerDisabled? = error as? AccountsError { true } else { false }
        }
        #expect(throws: AccountsError.unsupportedProvider("nobody")) { try providers.named("nobody") }
    }

    @Test func `passwords are disabled, not unknown, where e-mail is off`() throws {
        let configuration = try Fixture.parse(Fixture.providers("email: { mode: off }"))
        let providers = try #require(configuration.application(named: "demo")).providers
        let error = #expect(throws: AccountsError.self) { try providers.passwordProvider() }
        #expect(error.map { "\($0)".contains("email is not enabled for this application") } == true)
    }

    @Test func `absent settings have the documented defaults`() throws {
        let configuration = try Fixture.parse(Fixture.top(""))
        let demo = try #require(configuration.application(named: "demo"))
        let server = Configuration.Server(
            host: "127.0.0.1", port: 8080, tls: nil, publicURL: "http://127.0.0.1:8080", development: false,
            trustedProxies: [])
        #expect(configuration.server == server)
        #expect(configuration.database.connections == 8)
        let passwords = Configuration.Passwords(
            argon2: .standard, minimumLength: 8, quarantine: .seconds(7 * 86_400), pepper: nil)
        #expect(configuration.passwords == passwords)
        #expect(configuration.rateLimits == .standard)
        #expect(!configuration.network.allowPrivateHosts)
        #expect(demo.policy == ApplicationPolicy())
        #expect(demo.audience == "demo")
        #expect(demo.url == "http://127.0.0.1:8080/apps/demo")
        #expect(demo.erasure == Configuration.Erasure(ledger: nil, webhookDeadline: .seconds(259_200)))
        #expect(demo.anonymousRetention == .seconds(2_592_000))
    }

    @Test(
        arguments: [
            ("", 1000, 300), (", budget: off", nil, 300), (", budget: { perPrefix: off }", 1000, nil),
            (", budget: { total: 5/d }", 5, 300), (", budget: { total: off, perPrefix: off }", nil, nil),
        ] as [(String, Int?, Int?)])
    func `text messages have a budget unless it is switched off`(keys: String, total: Int?, perPrefix: Int?) throws {
        let sms = "delivery: { sms: { url: \"https://s.example\"\(keys) } }"
        let configuration = try Fixture.parse(Fixture.top(sms))
        #expect(configuration.delivery.sms?.budget.total?.count == total)
        #expect(configuration.delivery.sms?.budget.perPrefix?.count == perPrefix)
        let http = OutboundNetwork().poster(allowsPrivateHosts: false)
        let delivery = try #require(try configuration.delivery.smsDelivery(by: http, inbox: nil))
        #expect(delivery.budget?.total?.count == total && delivery.budget?.perRange?.count == perPrefix)
    }

    @Test func `the optional keys beside the sample`() throws {
        let configuration = try Fixture.parse(
            """
            database: { url: "postgresql://localhost/x" }
            secrets: { masterKey: "\(Fixture.masterKey)", previousMasterKeys: ["\(Fixture.masterKey)"] }
            passwords: { pepper: "0123456789abcdef0123456789abcdef" }
            delivery: { templates: ".", sms: { url: "https://s.example", kind: twilio, from: "+331", budget: 1000/d } }
            deletion: { ledger: erasures.log, webhookDeadline: 1h }
            anonymous: { retention: 90d }
            applications:
              one:
                tokens: { rsaBits: 2048, sessionLifetime: 90d, refreshRecovery: 1h }
                linking: { automatic: never, undoWindow: 5m }
                deletion: { webhookDeadline: 2h }
                providers:
                  anonymous: { retention: 7d }
                  google:
                    { kind: oidc, mode: linkOnly, issuer: "https://a.example", clientID: a, clientSecret: b, nonce: off, expose: [hd] }
                  phone: { mode: existing, allowedCountries: [NO], idleLimit: 365d }
              two: { anonymous: { retention: 1d } }
            """)
        let one = try #require(configuration.application(named: "one"))
        #expect(configuration.secrets.previousMasterKeys.count == 1)
        #expect(configuration.passwords.pepper?.current.id == "1")
        #expect(configuration.delivery.sms?.budget.total == Rate(1000, per: .seconds(86_400)))
        #expect(configuration.delivery.sms?.budget.perPrefix == Rate(300, per: .seconds(3600)))
        #expect(one.policy.tokens.rsaBits == 2048 && one.policy.tokens.refreshRecovery == .seconds(3600))
        #expect(one.policy.automaticLinking == .never)
        #expect(one.policy.undoWindow == .seconds(300))
        #expect(one.erasure == Configuration.Erasure(ledger: "./erasures.log", webhookDeadline: .seconds(7200)))
        #expect(one.anonymousRetention == .seconds(7 * 86_400))
        #expect(configuration.application(named: "two")?.anonymousRetention == .seconds(86_400))
        #expect(one.providers.all.map(\.exposedClaims) == [[], ["hd"], []])
        #expect(one.providers.all.map(\.mode) == [.open, .linkOnly, .existing])
        let phone = try #require(try one.providers.named("phone").provider as? PhoneFake)
        #expect(phone.settings.allowedCountries == ["NO"] && phone.settings.idleLimit == .seconds(365 * 86_400))
    }
}
