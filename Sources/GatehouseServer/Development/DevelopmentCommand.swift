internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import Postgres
internal import ProviderKit

/// `gatehouse dev`: a server that needs no configuration, with its own PostgreSQL in a directory.
struct DevelopmentCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Runs a demo application on its own PostgreSQL, with an inbox instead of mail.")

    @Option(help: "The port on 127.0.0.1.")
    var port = 8080
    @Option(help: "The directory of the database and the keys.")
    var directory = ".gatehouse"
    @Flag(help: "Logs each request.")
    var verbose = false

    func validate() throws {
        guard (1...65535).contains(port) else { throw ValidationError("--port takes a number from 1 to 65535") }
    }

    func run(installed: InstalledProviders) async throws {
        let level: Logger.Level = verbose ? .debug : .notice
        let logger = Logger(label: "gatehouse") { label in LineLogHandler(.readable, label: label, level: level) }
        let home = try await DevelopmentHome(directory: directory)
        let cluster = PrivateCluster(directory: home.databaseDirectory)
        try await cluster.start()
        try await attempt {
            try await serve(home: home, databaseURL: cluster.url, installed: installed, logger: logger)
        } finally: {
            await cluster.stop()
        }
    }

    private func serve(
        home: DevelopmentHome, databaseURL: String, installed: InstalledProviders, logger: Logger
    ) async throws {
        let configuration = try home.configuration(port: port, databaseURL: databaseURL, installed: installed)
        try await Backend.with(configuration, logger: logger, schema: .migrated) { backend in
            let server = try await RunningServer(backend, installed: installed, inbox: DevelopmentInbox())
            let serviceKey = try await Self.makeServiceKey(backend)
            let claim = try await Self.makeClaim(backend)
            try await server.run(reload: nil) { port in
                let banner = Banner(
                    port: port, directory: home.directory, tokenKey: home.tokenKey.path, serviceKey: serviceKey,
                    claim: claim)
                FileHandle.standardOutput.write(Data(banner.text.utf8))
            }
        }
    }
}

extension DevelopmentCommand {
    /// The secret of a key of the admin API with every scope, for this machine and half a day.
    fileprivate static func makeServiceKey(_ backend: Backend) async throws -> String {
        let keys = ServiceKeys(store: backend.store, limits: nil)
        let scopes = Set(AdminScope.allCases.filter(\.isForKeys))
        return try await keys.make(
            named: "gatehouse dev", scopes: scopes, clients: ["127.0.0.0/8", "::1"], lifetime: .seconds(12 * 3600),
            longest: .seconds(12 * 3600), by: .ofThisHost, in: try await backend.application(named: nil)
        ).text
    }

    /// A link that makes the person who uses it the owner of all applications; `nil` if there is an owner.
    fileprivate static func makeClaim(_ backend: Backend) async throws -> String? {
        guard let console = backend.configuration.console else { return nil }
        let home = try await backend.application(named: nil)
        let grants = try await AdminGrants(store: backend.store, home: home).list()
        guard !grants.contains(where: { $0.role == .owner && $0.application == nil }) else { return nil }
        let invitation = try NewAdminInvitation(role: .owner, application: nil, email: nil, lifetime: nil)
        return try await AdminInvitations(store: backend.store, opaque: backend.opaque, home: home)
            .make(invitation, at: console.url, by: .ofThisHost).link
    }
}

/// The text that `gatehouse dev` prints once it serves: addresses, and example commands.
struct Banner {
    let port: Int
    let directory: String
    /// The path of the file with the key that signs custom tokens.
    let tokenKey: String
    /// The secret of a key of the admin API.
    let serviceKey: String
    /// The link that makes an owner; `nil` if there is one.
    let claim: String?

    var text: String {
        let example = ExampleRequest(issuer: "http://127.0.0.1:\(port)")
        let api = "http://127.0.0.1:\(port)/api/v1/auth"
        return """

            Gatehouse serves the application demo on http://127.0.0.1:\(port)
              start      http://127.0.0.1:\(port), in a browser
              messages   http://127.0.0.1:\(port)/dev/inbox, where mails and texts arrive instead of being sent
              the API    http://127.0.0.1:\(port)/openapi.json
              database   \(directory)/postgres (delete \(directory) to start afresh)

            A first session; paste line by line:

              SESSION=$(curl -s -X POST \(api)/anonymous); echo "$SESSION"

              SESSION=$(curl -s -X POST \(api)/refresh -H 'Content-Type: application/json' \
            -d "{\\"refreshToken\\":\\"$(\(field("refreshToken")))\\"}"); echo "$SESSION"

              curl -i -X DELETE \(api)/account -H "Authorization: Bearer $(\(field("accessToken")))"

            Sign in as ada of a system of your own: sign a token, good once and for five minutes, and present it:

              \(signing)

              curl -s \(api)/custom -H 'Content-Type: application/json' -d "{\\"token\\":\\"$TOKEN\\"}"

            Sign in with a number that a mobile operator's gateway has written into the request:

              curl -s -X POST \(api)/mobile-network -H 'X-MSISDN: 33612345678'

            Sign up, or sign in, at http://127.0.0.1:\(port)/signup in a browser. The page sends a code by mail or text: look
            for it in the messages, at the address above.

            Sign in to another app, the client demo-app: open this URL in a browser. It ends at an address that nothing
            serves; copy the code from there within a minute, and redeem it:

              \(example.url)

              \(example.redemption)

            Register an installation of the app demo-mobile, which then signs in with its own id and secret. Apps for Blitz
            find the same below http://127.0.0.1:\(port)/blitz:

              \(registration)

            Administer in a browser, at http://127.0.0.1:\(port)/console\(owner)

            Look at all accounts as a program does, with a key that is good for half a day on this machine. The admin API
            is described at http://127.0.0.1:\(port)/api/v1/admin/openapi.json:

              curl -s http://127.0.0.1:\(port)/api/v1/admin/accounts -H "Authorization: Bearer \(serviceKey)"

            Ctrl-C stops the server and its database.

            """
    }

    /// The line about the first owner, if there is none.
    private var owner: String {
        claim.map { ". There is no owner yet; this link makes you one, within a day:\n\n  \($0)" } ?? "."
    }

    /// A shell command that extracts a JSON member with `sed`, so that no JSON tool is needed.
    private func field(_ name: String) -> String { #"echo "$SESSION" | sed 's/.*"\#(name)":"\([^"]*\)".*/\1/'"# }

    /// A shell line that registers an installation of an app.
    private var registration: String {
        let statement = DevelopmentHome.softwareStatement
        return "curl -s http://127.0.0.1:\(port)/oauth/register -H 'Content-Type: application/json' "
            + "-H 'Authorization: Bearer \(DevelopmentHome.initialAccessToken)' "
            + #"-d '{"software_id":"demo-mobile","device_type":"iphone","software_statement":"\#(statement)"}'"#
    }

    /// A shell line that creates and signs a token with `openssl` only.
    private var signing: String {
        let file = "'" + tokenKey.replacing("'", with: #"'\''"#) + "'"
        let claims = #"{"iss":"demo","aud":"demo","sub":"ada","iat":%d,"exp":%d,"jti":"%s"}"#
        return #"b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }; "#
            + #"TOKEN=$(printf '{"alg":"RS256"}' | b64).$(printf '\#(claims)' "#
            + #"$(date +%s) $(($(date +%s) + 300)) $(openssl rand -hex 16) | b64); "#
            + #"TOKEN=$TOKEN.$(printf %s "$TOKEN" | openssl dgst -sha256 -sign \#(file) | b64); echo "$TOKEN""#
    }
}
