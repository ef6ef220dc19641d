internal import Accounts
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import Passwords
internal import Postgres
internal import ProviderKit
internal import Storage
internal import Tokens

/// `gatehouse bench`.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Prepares a database to be measured.", subcommands: [Seed.self])

    /// `gatehouse bench seed`: batches by several connections; one that was interrupted goes on where it was.
    struct Seed: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "seed", abstract: "Fills an application with people to measure with.",
            discussion: """
                Each has an account, a verified address, a password identity, further identities of one other provider,
                and a session. They can sign in, all by one password, which is printed at the end: it derives from the
                installation's keys, as the refresh tokens do, so that nobody else can. A second run adds who is missing
                among the first N. It refuses an application that has other people's accounts; one that is configured
                and was never served is created. Schema, indexes and constraints are left alone.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "How many people there shall be.", transform: { try count($0, SeededPerson.numbers) })
        var accounts: Int
        @Option(help: "Identities of each: one with the password, and others.", transform: { try count($0, 1...16) })
        var identitiesPerAccount = 2
        @Option(help: "The application; the default one without it.")
        var application: String?
        @Option(help: "Whose the other identities are; without it the first provider with pages of its own, or oidc.")
        var provider: String?
        @Flag(help: "Seeds although the application has accounts that were not seeded.")
        var amongOthers = false
        @Option(help: "Batches written at a time.", transform: { try count($0, 1...32) })
        var connections = 4
        @Option(
            help: "Prints addresses and refresh tokens of so many people, evenly spread, one line each.",
            transform: { try count($0, 0...SeededPerson.numbers.upperBound) })
        var printTokens = 0

        /// Some 10 MB of rows in seven tables.
        private static let batch = 10_000

        func run() async throws {
            let (_, configuration) = try options.load()
            try await Backend.with(
                configuration, logger: .forCommands, schema: .current, connections: database(of: configuration)
            ) { backend in
                let applications = try await backend.applications(
                    named: application ?? configuration.defaultApplication)
                guard let application = applications.first else { return }
                let password = Self.password(of: application, backend)
                let seeded = try await seededAccounts(of: application, password: password, backend)
                if !amongOthers, try await seeded.hasOthers() {
                    throw ServerError.applicationInUse(application.name)
                }
                let added = try await add(to: seeded)
                try await seeded.analyze()
                print("\(added) people were added to \(application.name), which has all \(accounts) now")
                print("from \(SeededPerson(1).email) to \(SeededPerson(accounts).email)")
                print("password: \(password)")
                let printed = min(printTokens, accounts)
                for index in 0..<printed {
                    let person = SeededPerson(1 + index * accounts / printed)
                    print("\(person.email) \(Self.token(of: person, backend).text)")
                }
            }
        }

        private static func count(_ text: String, _ range: ClosedRange<Int>) throws -> Int {
            guard let number = Int(text), range.contains(number) else {
                throw ValidationError("\(text) is no number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
}

extension BenchCommand.Seed {
    /// A batch on a disk that is busy takes longer than a request may.
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
        of application: Accounts.Application, password: String, _ backend: Backend
    ) async throws -> SeededAccounts {
        let providers = application.providers
        guard let passwordProvider = try? providers.passwordProvider().0.name else {
            throw ServerError.noPasswords(application: application.name)
        }
        let other = provider ?? providers.enabled.first { $0.flow == .redirect }?.name ?? "oidc"
        let pool = HashingPool(threads: 1)
        let hasher = try PasswordHasher(backend.configuration.passwords, pool: pool)
        let hash = try await hasher.hash(
            password, sharingSaltOf: nil, for: HashingRequester(Client(device: nil, address: ""), subject: nil))
        await pool.shutdown()
        return SeededAccounts(
            database: backend.database,
            terms: SeededAccounts.Terms(
                application: application.id, providers: (passwordProvider, other),
                identitiesPerAccount: identitiesPerAccount, password: hash, lifetimes: application.policy.tokens,
                token: { Self.token(of: $0, backend) }))
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

    private static func token(of person: SeededPerson, _ backend: Backend) -> OpaqueToken {
        backend.opaque.derived(from: OpaqueToken(text: person.uid.text, hash: []), for: .seededSession)
    }

    private static func password(of application: Accounts.Application, _ backend: Backend) -> String {
        backend.opaque.derived(from: OpaqueToken(text: application.name, hash: []), for: .seededPassword).text
    }
}
