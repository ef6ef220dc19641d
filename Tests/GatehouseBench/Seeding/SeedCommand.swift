import Accounts
import AnonymousProvider
import AppleProvider
import ArgumentParser
import CustomTokenProvider
import EmailProvider
import Foundation
import GatehouseServer
import Logging
import MobileNetworkProvider
import OpenIDConnectProvider
import Passwords
import PhoneProvider
import Postgres
import ProviderKit
import Tokens

/// `gatehouse-bench seed`: writes batches over several connections; an interrupted run can be continued.
struct SeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed", abstract: "Fills an application with people to measure with.",
        discussion: """
            Each person has an account, a verified address, a password identity, further identities of one other \
            provider, and a session. They can sign in with one password, which is printed at the end. It is derived \
            from the installation's keys, as the refresh tokens are, so that no one else knows it. A second run adds \
            who is missing among the first N. The command refuses an application that has other accounts, and creates \
            one that is configured but was never served. It changes no schema, index or constraint.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "How many people the application is to have.", transform: { try count($0, SeededPerson.numbers) })
    var accounts: Int
    @Option(help: "Identities of each person: one with the password, and others.", transform: { try count($0, 1...16) })
    var identitiesPerAccount = 2
    @Option(help: "The application; the default one if omitted.")
    var application: String?
    @Option(help: "The provider of the other identities; by default the first with a redirect flow, or oidc.")
    var provider: String?
    @Flag(help: "Seeds although the application has accounts that were not seeded.")
    var amongOthers = false
    @Option(help: "Batches written at a time.", transform: { try count($0, 1...32) })
    var connections = 4
    @Option(
        help: "Prints addresses and refresh tokens of so many people, evenly spread, one line each.",
        transform: { try count($0, 0...SeededPerson.numbers.upperBound) })
    var printTokens = 0

    /// The people in one batch: about 10 MB of rows in six tables.
    private static let batch = 10_000

    /// The providers that the server also installs.
    private static let installed = InstalledProviders(
        [
            AnonymousProvider.self, EmailProvider.self, PhoneProvider.self, AppleProvider.self,
            OpenIDConnectProvider.self, OAuth2Provider.self, CustomTokenProvider.self, MobileNetworkProvider.self,
        ] + ReadyProviders.all)

    func run() async throws {
        let (_, configuration) = try options.load(installed: Self.installed)
        var logger = Logger(label: "gatehouse-bench")
        logger.logLevel = .error
        try await Backend.with(
            configuration, logger: logger, schema: .current, connections: database(of: configuration)
        ) { backend in
            let applications = try await backend.applications(named: application ?? configuration.defaultApplication)
            guard let application = applications.first else { return }
            let secrets = SeededSecrets(opaque: backend.opaque)
            let password = secrets.password(of: application)
            let seeded = try await seededAccounts(of: application, password: password, secrets, backend)
            if !amongOthers, try await seeded.hasOthers() {
                throw BenchError(
                    "application \(application.name) has accounts that were not seeded: choose another, or pass "
                        + "--among-others")
            }
            let added = try await add(to: seeded)
            try await seeded.analyze()
            print("\(added) people were added to \(application.name), which has all \(accounts) now")
            print("from \(SeededPerson(1).email) to \(SeededPerson(accounts).email)")
            print("password: \(password)")
            let printed = min(printTokens, accounts)
            for index in 0..<printed {
                let person = SeededPerson(1 + index * accounts / printed)
                print("\(person.email) \(secrets.refreshToken(of: person).text)")
            }
        }
    }

    private static func count(_ text: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw ValidationError("\(text) is no number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a configuration with longer timeouts than a request has, because a batch takes longer on a busy disk.
    private func database(of configuration: Configuration) -> Database.Configuration {
        var database = Database.Configuration(url: configuration.database.url.value)
        database.pipelined = 1
        database.transactions = connections
        database.lockTimeout = .seconds(120)
        database.transactionStatementTimeout = .seconds(120)
        database.transactionIdleTimeout = .seconds(120)
        return database
    }

    private func seededAccounts(
        of application: Application, password: String, _ secrets: SeededSecrets, _ backend: Backend
    ) async throws -> SeededAccounts {
        guard let passwordProvider = try? application.providers.passwordProvider().0.name else {
            throw BenchError("application \(application.name) has no provider with passwords for seeded people")
        }
        let redirecting = application.providers.enabled.first { $0.flow == .redirect }
        let pool = HashingPool(threads: 1)
        let hash = try await PasswordHasher(backend.configuration.passwords, pool: pool).hash(
            password, sharingSaltOf: nil, for: HashingRequester(Client(device: nil, address: ""), subject: nil))
        await pool.shutdown()
        return SeededAccounts(
            database: backend.database, application: application.id, lifetimes: application.policy.tokens,
            providers: (passwordProvider, provider ?? redirecting?.name ?? "oidc"),
            identitiesPerAccount: identitiesPerAccount, password: hash, secrets: secrets)
    }

    private func add(to seeded: SeededAccounts) async throws -> Int {
        var batches = stride(from: 1, through: accounts, by: Self.batch).lazy
            .map { $0...min($0 + Self.batch - 1, accounts) }.makeIterator()
        var progress = ProgressMeter(total: accounts, what: "accounts")
        return try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            var added = 0
            for _ in 0..<connections {
                guard let numbers = batches.next() else { break }
                group.addTask { (numbers.count, try await seeded.add(numbers)) }
            }
            while let (count, missing) = try await group.next() {
                added += missing
                progress.advance(by: count)
                if let numbers = batches.next() {
                    group.addTask { (numbers.count, try await seeded.add(numbers)) }
                }
            }
            progress.end()
            return added
        }
    }
}

/// The secrets of seeded people, derived from the installation's keys.
///
/// They are derived in the same way as a refresh token's successor, but from texts that no token has.
struct SeededSecrets: Sendable {
    let opaque: any OpaqueTokens

    func refreshToken(of person: SeededPerson) -> OpaqueToken { derived(from: "session of \(person.uid.text)") }

    func password(of application: Application) -> String { derived(from: "password of \(application.name)").text }

    private func derived(from text: String) -> OpaqueToken {
        opaque.successor(of: OpaqueToken(text: "seeded \(text)", hash: []))
    }
}
