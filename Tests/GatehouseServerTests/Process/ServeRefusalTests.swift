import Crypto
import Foundation
import GatehouseTesting
import Migrations
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse serve` prints each reason not to start in one line and exits.
@Suite struct ServeRefusalTests {
    private func expectRefusal(
        of file: ServerFile, by arguments: [String] = ["serve"], saying words: String...,
        sourceLocation: SourceLocation = #_sourceLocation,
        prepare: (ProcessDirectory) throws -> Void = { _ in }
    ) async throws {
        try await ProcessDirectory.with { directory in
            try prepare(directory)
            let outcome = try await file.run(arguments, in: directory)
            #expect(outcome.status == 1, sourceLocation: sourceLocation)
            #expect(outcome.output == "", sourceLocation: sourceLocation)
            #expect(outcome.errorLines.count == 1, "\(outcome.errorLines)", sourceLocation: sourceLocation)
            let line = outcome.errorLines.first ?? ""
            #expect(line.hasPrefix("gatehouse: "), sourceLocation: sourceLocation)
            for word in words { #expect(line.contains(word), "\(line)", sourceLocation: sourceLocation) }
            #expect(directory.processes() == [], sourceLocation: sourceLocation)
        }
    }

    private func migrated() async throws -> ServerFile {
        ServerFile(database: try await TemporaryPostgres.database(migrations: Migrations.all))
    }

    @Test(arguments: [["serve"], ["serve", "--config", "none.yaml"], ["migrate"], ["config", "check"]])
    func aMissingConfiguration(arguments: [String]) async throws {
        try await ProcessDirectory.with { directory in
            let outcome = try await GatehouseProcess.run(
                arguments, in: directory, environment: ["GATEHOUSE_CONFIG": ""])
            #expect(outcome.status == 1)
            #expect(outcome.errorLines.count == 1, "\(outcome.errorLines)")
        }
    }

    @Test(arguments: ["serve", "check"])
    func aBrokenConfigurationIsNamedLineByLine(command: String) async throws {
        try await ProcessDirectory.with { directory in
            let text = ServerFile(database: "postgresql:///none").text
                .replacing("connections: 8", with: "connections: many")
                .replacing("audience: demo", with: "audiences: demo")
            try directory.write(text, to: "gatehouse.yaml")
            let arguments = command == "check" ? ["config", "check"] : [command]
            let outcome = try await GatehouseProcess.run(
                arguments, in: directory, environment: ["GATEHOUSE_CONFIG": "gatehouse.yaml"])
            #expect(outcome.status == 1)
            #expect(outcome.output == "")
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (fault, path) in [("connections: many", "database.connections"), ("audiences: demo", "demo.audiences")]
            {
                let number = 1 + (try #require(lines.firstIndex { $0.contains(fault) }))
                let told = outcome.errorLines.count { line in
                    line.contains("gatehouse.yaml:\(number): ") && line.contains(path)
                }
                #expect(told == 1, "\(outcome.errorLines)")
            }
            #expect(outcome.errorLines.count == 2, "\(outcome.errorLines)")
        }
    }

    @Test func aDatabaseThatIsNotThere() async throws {
        let url = try await TemporaryPostgres.database()
        try await expectRefusal(
            of: ServerFile(database: url.replacing("///", with: "///no")), saying: "does not exist")
    }

    /// Runs the body with a PostgreSQL of its own.
    private func withCluster(
        _ settings: [String: String] = [:], in directory: ProcessDirectory,
        _ body: (PrivateCluster) async throws -> Void
    ) async throws {
        var options = PrivateCluster.Options()
        options.ephemeral = true
        options.durable = false
        options.settings = settings
        let cluster = PrivateCluster(directory: directory.path("postgres"), options: options)
        try await cluster.start()
        try await attempt {
            try await body(cluster)
        } finally: {
            await cluster.stop()
        }
    }

    @Test func aWrongPassword() async throws {
        try await ProcessDirectory.with { directory in
            try directory.write("local all all scram-sha-256\n", to: "pg_hba.conf")
            try await withCluster(["hba_file": directory.path("pg_hba.conf")], in: directory) { cluster in
                try await expectRefusal(
                    of: ServerFile(database: cluster.url + "&password=hunter2hunter2"),
                    saying: "password authentication failed")
            }
        }
    }

    @Test(arguments: ["serve", "migrate"]) func aRoleWithoutRights(command: String) async throws {
        try await ProcessDirectory.with { directory in
            try await withCluster(in: directory) { cluster in
                // PostgreSQL 14 lets every role create tables.
                try Database.runAlone(
                    "CREATE ROLE stranger LOGIN; REVOKE CREATE ON SCHEMA public FROM public", url: cluster.url)
                try await expectRefusal(
                    of: ServerFile(database: cluster.url + "&user=stranger"), by: [command],
                    saying: "42501", "the role that owns the database")
            }
        }
    }

    @Test(arguments: ["serve", "migrate"]) func aDatabaseThatIsNotUTF8(command: String) async throws {
        try await ProcessDirectory.with { directory in
            try await withCluster(in: directory) { cluster in
                try Database.runAlone(
                    "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0", url: cluster.url)
                try await expectRefusal(
                    of: ServerFile(database: cluster.url(database: "latin")), by: [command],
                    saying: "encoding is LATIN1", "ENCODING 'UTF8'")
            }
        }
    }

    @Test func anotherMasterKey() async throws {
        var file = try await migrated()
        try await ProcessDirectory.with { directory in
            try await file.serve(in: directory) { _, _ in }
        }
        file.masterKey = Data(repeating: 7, count: 32).base64EncodedString()
        try await expectRefusal(of: file, saying: "master key")
    }

    @Test func aTakenPort() async throws {
        var file = try await migrated()
        let taken = try Port()
        file.port = taken.number
        try await expectRefusal(of: file, saying: "127.0.0.1:\(taken.number) is taken")
    }

    /// A name with a label of 64 characters fails without a request to a name server.
    @Test(arguments: [
        ("192.0.2.1", ":0: "),
        (String(repeating: "x", count: 64), ":0: no address is known for `server.host`"),
    ])
    func anAddressThatIsNotHere(host: String, reason: String) async throws {
        let file = try await migrated()
        try await ProcessDirectory.with { directory in
            let text = file.text.replacing("host: 127.0.0.1", with: "host: \(host)")
                .replacing("development: true", with: "development: false")
            try directory.write(text, to: "gatehouse.yaml")
            let outcome = try await GatehouseProcess.run(["serve", "--config", "gatehouse.yaml"], in: directory)
            #expect(outcome.status == 1)
            #expect(outcome.errorLines.count == 1, "\(outcome.errorLines)")
            #expect(outcome.errorLines.first?.contains("can't listen on \(host)\(reason)") == true)
        }
    }

    @Test func aMissingCertificate() async throws {
        var file = try await migrated()
        file.server = "tls: { certificate: 'file:none.pem', key: 'file:none.pem' }"
        try await ProcessDirectory.with { directory in
            let outcome = try await file.run(["serve"], in: directory)
            #expect(outcome.status == 1)
            #expect(outcome.errorLines.count == 2, "\(outcome.errorLines)")
            #expect(outcome.errorLines.allSatisfy { $0.contains("gatehouse.yaml:1: server.tls.") })
        }
    }

    @Test(arguments: [["serve"], ["config", "check"]])
    func aCertificateThatIsNone(command: [String]) async throws {
        var file = try await migrated()
        file.server = "tls: { certificate: 'file:not.pem', key: 'file:not.pem' }"
        let problem = "gatehouse.yaml:1: server.tls.certificate: "
        try await expectRefusal(of: file, by: command, saying: problem) { directory in
            try directory.write("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", to: "not.pem")
        }
    }

    @Test(arguments: [["serve"], ["config", "check"]])
    func aKeyOfAnotherCertificate(command: [String]) async throws {
        var file = try await migrated()
        file.server = "tls: { certificate: 'file:cert.pem', key: 'file:other.pem' }"
        try await ProcessDirectory.with { directory in
            try await directory.makeCertificate()
            try directory.write(P256.Signing.PrivateKey().pemRepresentation, to: "other.pem")
            let outcome = try await file.run(command, in: directory)
            #expect(outcome.status == 1)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errorLines.first?.contains("gatehouse.yaml:1: server.tls.key: is not the key") == true)
        }
    }
}
