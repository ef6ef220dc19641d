import Foundation
import GatehouseTesting
import Migrations
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse admin invite` beside a running server on the same database.
struct AdminInviteCommandTests {
    private static let admin = "{ application: demo, console: true }"

    @Test func `it prints one link, which the server knows`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await TestServer.with(database: database, application: "openid: {}", admin: Self.admin) { server in
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.application = "openid: {}"
                file.delivery = "admin: \(Self.admin)"
                func run(_ words: String...) async throws -> GatehouseProcess.Outcome {
                    try await file.run(["admin", "invite"] + words, in: directory)
                }
                let plain = try await run()
                #expect(plain.status == 0 && plain.errorLines.isEmpty, "\(plain.errorLines)")
                let lines = plain.output.split(separator: "\n", omittingEmptySubsequences: false)
                #expect(lines.count == 2 && lines.last == "")
                let link = try #require(lines.first)
                #expect(link.hasPrefix("http://127.0.0.1:1/console/claim?token="))
                let page = try await APIClient(server).send(.GET, String(link.dropFirst("http://127.0.0.1:1".count)))
                #expect(page.status == 200 && page.text.contains("<em>owner</em> of <em>all applications</em>"))

                let narrow = try await run(
                    "--role", "support", "--on", "demo", "--email", "ada@example.com", "--expires", "7d")
                let path = narrow.output.trimmingCharacters(in: .newlines).dropFirst("http://127.0.0.1:1".count)
                let other = try await APIClient(server).send(.GET, String(path))
                #expect(other.text.contains("<em>support</em> of <em>demo</em>"), "\(narrow.errorLines)")
                #expect(other.text.contains("a•••@e•••.com") && !other.text.contains("ada@"))

                let refused: [([String], String)] = [
                    (["--role", "king"], "The value 'king' is invalid for '--role"),
                    (["--on", "nope"], "there is no application nope"),
                    (["--email", "ada"], "--email is not an e-mail address"),
                    (["--expires", "8d"], "--expires is not between 1 second and 7 days"),
                    (["--expires", "0s"], "--expires is not between"),
                    (["--expires", "x"], "--expires must be a duration"),
                ]
                for (options, words) in refused {
                    let outcome = try await file.run(["admin", "invite"] + options, in: directory)
                    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(options)")
                    #expect(outcome.errorLines.count == 1 && outcome.errorLines[0].hasPrefix("gatehouse: \(words)"))
                }
                file.delivery = "admin: { application: demo }"
                #expect(
                    try await run().errorLines == ["gatehouse: `admin.console` is off, and the link would lead there"])
                file.delivery = ""
                let none = try await run()
                #expect(none.status == 1 && none.errorLines.first?.contains("section `admin`") == true)
            }
        }
    }
}
