import Accounts
import Crypto
import Foundation
import GatehouseTesting
import Logging
import Migrations
import Passwords
import Postgres
import ProviderKit
import Storage
import Tokens

/// A person with a password and an open session.
struct Person: Sendable {
    let email: String
    let identity: KnownIdentity
    let accessToken: String
}

/// Writes keys and accounts into the database with the server's own types, before the server starts.
struct Seeder: Sendable {
    static let password = "correct horse battery staple"
    private static let provider = "email"
    private static let client = Client(device: "wrk", address: "127.0.0.1")

    let database: Database
    private let keys: KeyRing
    private let store: SQLStore
    private let tokens: SessionTokens
    private let passwordHash: PasswordHash

    init(databaseURL: String, masterKey: String) async throws {
        var configuration = Database.Configuration(url: databaseURL)
        configuration.pipelined = 4
        configuration.transactions = 1
        database = Database(configuration, logger: Logger(label: "seeder"))
        database.start()
        try await database.ready(within: .seconds(5))
        _ = try await Migrator(database: database, migrations: Migrations.all).migrate()
        let rootKey = try await RootKey.open(RootKeyTable(database: database), with: MasterKeys(current: masterKey))
        let sealer = Sealer(rootKey: rootKey)
        let revocations = RevocationList(database: database, channel: ReplicaChannel(database: database)) { .zero }
        keys = KeyRing(store: SigningKeysTable(database: database), sealing: sealer, time: SystemTime())
        store = SQLStore(
            database: database, sealing: sealer, subscriptions: NoSubscriptions(), revocations: revocations)
        tokens = SessionTokens(
            opaque: DerivedTokens(rootKey: rootKey), access: AccessTokenCodec(keys: keys, time: SystemTime()),
            time: SystemTime())
        let pool = HashingPool(threads: 1)
        passwordHash = try await PasswordHasher(pool: pool).hash(
            Self.password, sharingSaltOf: nil, for: HashingRequester(Self.client, subject: nil))
        await pool.shutdown()
    }

    func stop() async {
        await database.stop()
    }

    /// The number of log files that PostgreSQL keeps and writes again; its setting `min_wal_size` has 16 MiB for each.
    static let logFiles = 32

    private static let endLogFile = Statement(
        .write, "SELECT pg_switch_wal() FROM (SELECT pg_logical_emit_message(false, 'bench', '') OFFSET 0) AS written")
    private static let checkpoint = Statement(.write, "CHECKPOINT")

    /// Makes PostgreSQL create the files of its write-ahead log, which it later writes again.
    ///
    /// A server that has run for some hours has them, and all commits wait while one is created.
    func createLogFiles() async throws {
        for _ in 0..<Self.logFiles { _ = try await database.execute(Self.endLogFile) }
        _ = try await database.execute(Self.checkpoint)
    }
}

extension Seeder {
    /// Creates an application with the name in the server's configuration, and its signing key.
    func application(named name: String, issuer: String, algorithm: SigningAlgorithm) async throws -> Application {
        var policy = ApplicationPolicy()
        policy.tokens.algorithm = algorithm
        let application = Application(
            id: try await ApplicationsTable(database: database).number(of: name), name: name, issuer: issuer,
            audience: name, policy: policy, providers: ProviderRegistry(installedKinds: [], configured: []))
        try await keys.prepare(application)
        return application
    }

    func people(_ count: Int, in application: Application) async throws -> [Person] {
        try await concurrently(1...count) { try await person($0, in: application) }
    }

    private func person(_ number: Int, in application: Application) async throws -> Person {
        guard let address = EmailAddress("person\(number)@bench.example") else { throw BenchError("no such address") }
        let claim = AddressClaim(address: .email(address), isVerified: true, isAuthoritative: true)
        let evidence = VerifiedIdentity(
            providerUid: address.value, addresses: [claim], displayName: "Person \(number)", methods: ["pwd"])
        let session = tokens.newSession(by: evidence, of: Self.provider, from: Self.client, in: application)
        let opened = try await store.createAccount(
            opening: session, with: NewIdentity(claiming: [.email(address)]),
            recording: EvidenceRecord(.addressProven, of: evidence))
        let uid = opened.user.uid
        try await store.setPassword(
            passwordHash, of: opened.identityID, ownedBy: uid, replacing: nil, application: application.id)
        let signedIn = try await tokens.signedIn(opened, secret: session.secret, in: application)
        return Person(
            email: address.value, identity: KnownIdentity(id: opened.identityID, uid: uid, status: .live),
            accessToken: signedIn.tokens.accessToken)
    }

    /// Opens sessions, which are distributed evenly over the people, and returns their refresh tokens.
    func refreshTokens(_ count: Int, for people: [Person], in application: Application) async throws -> [String] {
        try await concurrently(0..<count) { number in
            let token = tokens.opaque.make()
            try await openSession(with: token, for: people[number % people.count], in: application)
            return token.text
        }
    }

    /// Opens sessions whose refresh tokens have the hashes of the given numbers.
    func openSessions(withTokensOf numbers: [Int64], for people: [Person], in application: Application) async throws {
        _ = try await concurrently(numbers.indices) { index in
            let bytes = withUnsafeBytes(of: numbers[index].bigEndian) { Array($0) }
            let token = OpaqueToken(text: "", hash: Array(SHA256.hash(data: bytes)))
            try await openSession(with: token, for: people[index % people.count], in: application)
        }
    }

    private func openSession(with token: OpaqueToken, for person: Person, in application: Application) async throws {
        let session = NewSession(
            by: VerifiedIdentity(providerUid: person.email, methods: ["pwd"]), of: Self.provider, from: Self.client,
            in: application, secret: .refreshToken(token))
        _ = try await store.openSession(session, identity: person.identity, password: nil)
    }

    /// Makes access tokens for the seeded sessions of these people, without a query.
    func accessTokens(of people: [SeededPerson], in application: Application) async throws -> [String] {
        try await concurrently(people) { person in
            let grant = SessionGrant(
                sessionID: person.sessionID, uid: person.uid, authenticatedAt: Date(), expiresAt: .distantFuture,
                methods: ["pwd"], provider: Self.provider, providerUid: person.email, email: person.email, phone: nil)
            return try await tokens.pair(for: grant, refreshToken: tokens.opaque.make(), in: application).accessToken
        }
    }

    /// Makes access tokens for the sessions of accounts with these numbers, without a query.
    func accessTokens(ofOwners numbers: ClosedRange<Int64>, in application: Application) async throws -> [String] {
        var tokens: [String] = []
        for number in numbers {
            let digits = String(format: "%012llx", number)
            guard let session = UUID(uuidString: "00000000-0000-7000-a000-\(digits)"),
                let uid = UUID(uuidString: "00000000-0000-7000-8000-\(digits)")
            else { throw BenchError("no such owner") }
            let email = "owner\(number)@bench.example"
            let grant = SessionGrant(
                sessionID: session, uid: uid, authenticatedAt: Date(), expiresAt: .distantFuture, methods: ["pwd"],
                provider: Self.provider, providerUid: email, email: email, phone: nil)
            let pair = try await self.tokens.pair(
                for: grant, refreshToken: self.tokens.opaque.make(), in: application)
            tokens.append(pair.accessToken)
        }
        return tokens
    }

    func newOpaqueTokens(_ count: Int) -> [OpaqueToken] { (0..<count).map { _ in tokens.opaque.make() } }

    private func concurrently<Item: Sendable, Value: Sendable>(
        _ items: some Sequence<Item>, _ body: @escaping @Sendable (Item) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            // The tasks run at the same time, because thousands of people in sequence would take minutes.
            for item in items { group.addTask { try await body(item) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// Queries for the report and the processor meter, which `Storage` does not have.
extension Seeder {
    private static let selectVersion = Statement(.read, "SELECT current_setting('server_version')")
    private static let selectBackend = Statement(.read, "SELECT pg_backend_pid()")
    private static let countDue = Statement(.read, "SELECT count(*) FROM accounts WHERE purge_after <= now()")
    private static let countAccounts = Statement(.read, "SELECT count(*) FROM accounts")
    /// Counts sequential scans of the tables that grow with the number of people.
    private static let sumScans = Statement(
        .read,
        """
        SELECT sum(seq_scan)::int8 FROM pg_stat_user_tables
         WHERE relname IN ('accounts', 'identities', 'addresses', 'passwords', 'sessions', 'refresh_tokens')
        HAVING count(*) = 6
        """)
    private static let countRefreshTokens = Statement(.read, "SELECT count(*) FROM refresh_tokens")

    /// Makes all seeded people due for erasure.
    ///
    /// - Returns: the number of seeded people.
    func makeSeededPeopleDue(in application: Application) async throws -> Int {
        try await SeededAccounts.makeDue(in: application.id, of: database)
    }

    /// Returns the number of people who are due for erasure.
    func dueCount() async throws -> Int {
        try await count(Self.countDue)
    }

    func accountCount() async throws -> Int {
        try await count(Self.countAccounts)
    }

    func refreshTokenCount() async throws -> Int {
        try await count(Self.countRefreshTokens)
    }

    func count(_ statement: Statement) async throws -> Int {
        var row = try await database.first(statement)
        guard let count: Int = try row?.next() else { throw BenchError("nothing was counted") }
        return count
    }

    /// Returns the number of sequential scans of large tables so far.
    func sequentialScans() async throws -> Int {
        try await count(Self.sumScans)
    }

    func databaseVersion() async throws -> String {
        var row = try await database.first(Self.selectVersion)
        return try row?.next() ?? "?"
    }

    /// Returns the process id of the postmaster, the parent of PostgreSQL's other processes.
    func postmaster() async throws -> pid_t {
        var row = try await database.first(Self.selectBackend)
        guard let backend: Int32 = try row?.next(), let parent = ProcessStatus(backend)?.parent else {
            throw BenchError("PostgreSQL's processes can't be seen")
        }
        return parent
    }
}
