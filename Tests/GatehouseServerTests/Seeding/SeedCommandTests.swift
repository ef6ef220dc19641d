import Foundation
import GatehouseTesting
import Migrations
import Postgres
import ProviderKit
import Testing

@testable import GatehouseBench
@testable import GatehouseServer

/// `gatehouse-bench seed` beside a running server on the same database.
@Suite struct SeedCommandTests {
    private static let bench = GatehouseProcess.executable + "-bench"

    private func withServerAndCommands(
        _ body: @Sendable @escaping (TestServer, ServerFile, ProcessDirectory) async throws -> Void
    ) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, providers: "scripted: {}") { server in
            try await ProcessDirectory.with { directory in
                try await body(server, ServerFile(database: database), directory)
            }
        }
    }

    /// Runs the seeder and returns its parsed output.
    private func seed(
        _ count: Int, _ more: String..., file: ServerFile, in directory: ProcessDirectory
    ) async throws -> (added: Int, password: String, tokens: [Substring], progress: [String]) {
        let outcome = try await file.run(
            ["seed", "--accounts", "\(count)", "--provider", "scripted"] + more, program: Self.bench, in: directory)
        try #require(outcome.status == 0, "\(outcome.errorLines)")
        let lines = outcome.output.split(separator: "\n")
        let added = try #require(lines.first?.split(separator: " ").first.flatMap { Int($0) })
        let password = try #require(lines.first { $0.hasPrefix("password: ") }).dropFirst("password: ".count)
        return (added, String(password), Array(lines.dropFirst(3)), outcome.errorLines)
    }

    @Test func `seeded people behave like registered ones`() async throws {
        try await withServerAndCommands { server, file, directory in
            let client = APIClient(server)
            let seeded = try await seed(200, "--print-tokens", "2", file: file, in: directory)
            #expect(seeded.added == 200)
            #expect(seeded.progress.last?.hasPrefix("100 % of 200 accounts in ") == true)

            let email = "seeded-0000000007@bench.example"
            let signedIn = try await client.login(email, seeded.password)
            try #require(signedIn.status == 200, "\(signedIn.text)")
            let person = try Person(signedIn, email: email, password: seeded.password)
            #expect(person.uid == SeededPerson(7).uid.uuidString.lowercased())
            let user = try await client.get("/auth/me", bearer: person.accessToken)
            #expect(user["email"].string == email)
            #expect(user["emailVerified"] == true)
            #expect(user["authProviders"] == ["email", "scripted"])
            #expect(user["isAnonymous"] == false)
            #expect(user["displayName"] == "Person 7")
            let other = try await client.register(at: server)
            let others = try await client.get("/auth/me", bearer: other.accessToken)
            #expect(user.json.keys == others.json.keys)
            let identities = try await client.identities(bearer: person.accessToken)
            #expect(identities.count == 2)

            // The printed access token opens the session of a seeded person.
            let line = try #require(seeded.tokens.last?.split(separator: " "))
            #expect(seeded.tokens.count == 2 && line.first == "seeded-0000000101@bench.example")
            let refreshed = try await client.refresh(String(line[1]))
            let bearer = try #require(refreshed["accessToken"].string, "\(refreshed.text)")
            let me = try await client.get("/auth/me", bearer: bearer)
            #expect(me["email"] == "seeded-0000000101@bench.example")
            let sessions = try await client.get("/auth/sessions", bearer: bearer)
            #expect(sessions["sessions"].array?.count == 1)

            // Signs in with the person's second identity.
            let federated = try await client.present(.somebody("seeded-0000000007"), to: "scripted")
            #expect(federated["isNewAccount"] == false && federated["user"]["id"].string == person.uid)
            #expect(try await client.delete("/auth/account", bearer: person.accessToken).status == 204)
        }
    }

    @Test func `a second run adds what is missing`() async throws {
        try await withServerAndCommands { server, file, directory in
            let first = try await seed(200, file: file, in: directory)
            let again = try await seed(200, file: file, in: directory)
            #expect((again.added, again.password) == (0, first.password))
            try await server.execute("DELETE FROM accounts WHERE display_name IN ('Person 3', 'Person 77')")
            let more = try await seed(250, file: file, in: directory)
            #expect(more.added == 52)
            #expect(try await rows(at: server) == [250, 500, 250, 250, 250, 250])
            #expect(try await APIClient(server).login("seeded-0000000077@bench.example", first.password).status == 200)
        }
    }

    @Test func `two concurrent runs share the work`() async throws {
        try await withServerAndCommands { server, file, directory in
            async let one = seed(300, file: file, in: directory)
            async let two = seed(300, file: file, in: directory)
            let added = try await one.added + two.added
            #expect(added == 300)
            #expect(try await rows(at: server) == [300, 600, 300, 300, 300, 300])
        }
    }

    @Test func `seeding refuses an application with other accounts`() async throws {
        try await withServerAndCommands { server, file, directory in
            _ = try await APIClient(server).guest()
            let refused = try await file.run(["seed", "--accounts", "5"], program: Self.bench, in: directory)
            #expect((refused.status, refused.output) == (1, ""))
            #expect(refused.errorLines.count == 1)
            #expect(
                refused.errorLines.first?.hasPrefix("Error: application demo has accounts that were not") == true)
            #expect(try await server.count("SELECT count(*) FROM accounts") == 1)
            let seeded = try await seed(5, "--among-others", file: file, in: directory)
            #expect(seeded.added == 5)
        }
    }

    @Test(arguments: [
        (["--accounts", "5", "--application", "nope"], "there is no application nope in the configuration"),
        (["--accounts", "0"], "0 is no number from 1 to 600000000"),
        (["--accounts", "5", "--identities-per-account", "17"], "17 is no number from 1 to 16"),
    ])
    func `a failure prints one line`(arguments: [String], words: String) async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await ProcessDirectory.with { directory in
            let outcome = try await ServerFile(database: database)
                .run(["seed"] + arguments, program: Self.bench, in: directory)
            #expect(outcome.status != 0)
            #expect(outcome.errorLines.first?.contains(words) == true, "\(outcome.errorLines)")
        }
    }

    @Test func `seeded ids are recognisable, ordered and unique`() {
        #expect(SeededPerson(1).uid.uuidString == "01890000-0001-75EE-8D00-000000000001")
        let people = [1, 2, 255, 256, 70_000, SeededPerson.numbers.upperBound].map(SeededPerson.init)
        #expect(people.map(\.uid.uuidString) == people.map(\.uid.uuidString).sorted())
        #expect(Set(people.flatMap { [$0.uid, $0.sessionID, $0.identityID(1), $0.identityID(2)] }).count == 24)
        #expect(people[4].email == "seeded-0000070000@bench.example")
    }

    private func rows(at server: TestServer) async throws -> [Int] {
        [
            try await server.count("SELECT count(*) FROM accounts"),
            try await server.count("SELECT count(*) FROM identities"),
            try await server.count("SELECT count(*) FROM addresses"),
            try await server.count("SELECT count(*) FROM passwords"),
            try await server.count("SELECT count(*) FROM refresh_tokens WHERE created_at > now() - interval '1 hour'"),
            try await server.count(
                """
                SELECT count(*) FROM sessions s JOIN identities i USING (application_id)
                 WHERE i.id = s.identity_id AND i.provider = 'email'
                """),
        ]
    }
}
