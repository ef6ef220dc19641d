import Foundation
import GatehouseTesting
import ProviderKit
import Testing

/// Runs Schemathesis against the server with all its checks.
///
/// It makes 8 valid and invalid requests for each operation, and sequences of requests. The long mode makes 60, which
/// are over 10,000 for both documents.
@Suite struct SchemathesisTests {
    /// Signs every request with a guest's token and takes a new guest each second, because requests end sessions and
    /// delete accounts.
    private static let hooks = """
        import requests
        import schemathesis

        @schemathesis.auth(refresh_interval=1)
        class Guest:
            def get(self, case, context):
                url = case.operation.schema.get_base_url().rstrip("/").removesuffix("/.")
                answer = requests.post(url + "/api/v1/auth/anonymous", timeout=30)
                return answer.json()["accessToken"]

            def set(self, case, data, context):
                case.headers = case.headers or {}
                case.headers["Authorization"] = f"Bearer {data}"
        """

    /// A `state` or a form that the server did not issue, a request of no client, and a recovery with neither a password
    /// nor a provider are answered with 400 or 403, which a schema cannot express.
    private static let settings = """
        [[operations]]
        include-path-regex = "^(/api/v1/auth/(oauth/.provider./callback|recover)|/(oauth|signin|account|pages|device|qr)(/.*)?|/(verify-email|reset-password|review|invitation|recover))$"

        [operations.checks.positive_data_acceptance]
        expected-statuses = ["2xx", "3xx", "400", "401", "403", "404", "409", "429"]

        [[operations]]
        include-path-regex = "^/api/v1/admin/"

        [operations.checks.positive_data_acceptance]
        expected-statuses = ["2xx", "400", "403", "404", "409", "429"]
        """

    /// `Host` is that of the issuer, whose pages are at no other place.
    ///
    /// How fast Schemathesis makes its requests says nothing about the server.
    private static let options = [
        "--header", "Host: 127.0.0.1:1",
        "--checks", "all", "--max-examples", isLongMode ? "60" : "8", "--generation-deterministic",
        "--continue-on-failure", "--no-color", "--warnings", "off", "--suppress-health-check", "too_slow",
    ]

    /// Paths that read no bearer of a guest.
    private static let withoutBearer =
        #"^/(oauth|\.well-known/o|signin|signup|account|pages|device|qr|verify-email|reset-password|review|invitation|recover)"#

    /// The same operations at other paths.
    private static let repeated = #"^/blitz/(oauth|\.well-known|profile|login)|/blitz$"#

    /// One provider of every kind; their upstream URLs refuse connections.
    private static let providers = """
        phone: { enabled: true }
        apple: { clientIDs: [net.example.app], baseURL: "http://127.0.0.1:1" }
        google: { kind: oidc, issuer: "http://127.0.0.1:1", clientID: client, clientSecret: secret }
        corp: { kind: oauth2, authorizationEndpoint: "http://127.0.0.1:1/a", tokenEndpoint: "http://127.0.0.1:1/t", \
        userInfoEndpoint: "http://127.0.0.1:1/u", clientID: client, clientSecret: secret, scopes: [email], \
        claims: { providerUid: id } }
        custom: { kind: custom-token, issuer: "https://legacy.example", audience: demo, algorithms: [ES256], \
        jwksURL: "http://127.0.0.1:1/keys" }
        carrier: { kind: mobile-network, gateways: [127.0.0.1], header: X-MSISDN }
        """

    @Test func `Schemathesis finds nothing`() async throws {
        let programs = try await PythonPrograms.schemathesis()
        async let withoutToken: Void = run(programs, asGuest: false, ["--exclude-path-regex", Self.repeated])
        try await run(
            programs, asGuest: true, ["--exclude-path-regex", "\(Self.withoutBearer)|\(Self.repeated)"])
        try await withoutToken
    }

    @Test func `Schemathesis finds nothing in the admin API`() async throws {
        let programs = try await PythonPrograms.schemathesis()
        try await TestServer.with(providers: Self.providers, admin: "{ application: demo }") { server in
            let key = try await server.serviceKey()
            try await run(
                programs, server, document: "/api/v1/admin/openapi.json",
                ["--header", "Authorization: Bearer \(key)"])
        }
    }

    private func run(_ programs: PythonPrograms, asGuest: Bool, _ options: [String] = []) async throws {
        let application = "redirectURIs: [\"demo://callback\"]\n\(BlitzApp.everything)"
        try await TestServer.with(application: application, providers: Self.providers) { server in
            try await run(programs, server, document: "/openapi.json", asGuest: asGuest, options)
        }
    }

    private func run(
        _ programs: PythonPrograms, _ server: TestServer, document: String, asGuest: Bool = false, _ options: [String]
    ) async throws {
        try await ProcessDirectory.with { directory in
            try directory.write(Self.hooks, to: "hooks.py")
            try directory.write(Self.settings, to: "schemathesis.toml")
            try await GatehouseProcess.with(
                [programs.path("st"), "run", server.url + document] + Self.options + options,
                program: programs.python, in: directory,
                environment: asGuest ? ["SCHEMATHESIS_HOOKS": "hooks"] : [:]
            ) { process in
                let status = try await process.end(within: .seconds(isLongMode ? 3600 : 900))
                #expect(status == 0, "\(process.output.suffix(20_000))\(process.errors)")
            }
        }
    }
}
