import Accounts
import Administration
import Foundation
import GatehouseTesting
import HTTPAPI
import Logging
import Migrations
import ProviderKit
import Testing

@testable import GatehouseServer

/// Switches on several servers, under several administrators at once, and across changes of the file.
struct ProviderSwitchReplicaTests {
    private static let admin = "{ application: demo }"
    private static let providers = "scripted: {}"

    @Test func `every server follows within a second, and one that starts later keeps the switch`() async throws {
        try await TestServer.with(providers: Self.providers, admin: Self.admin) { first in
            try await TestServer.with(
                database: first.databaseURL, providers: Self.providers, admin: Self.admin
            ) { second in
                let (here, there) = (APIClient(first), APIClient(second))
                let key = try await first.serviceKey()
                let person = try await here.newcomer("ada")
                let clock = ContinuousClock()
                for _ in 0..<3 {
                    let plan = try await here.plan("scripted", "off", key)
                    #expect(try await here.switchProvider("scripted", plan, key).status == 200)
                    var since = clock.now
                    try await eventually("the other server refuses") {
                        try await there.present(.somebody("ada"), to: "scripted").code == "PROVIDER_DISABLED"
                    }
                    #expect(clock.now - since < .seconds(1))
                    #expect(try await there.endSwitch("scripted", key).status == 200)
                    since = clock.now
                    try await eventually("the first server signs in again") {
                        try await here.present(.somebody("ada"), to: "scripted").status == 200
                    }
                    #expect(clock.now - since < .seconds(1))
                }
                let plan = try await there.plan("scripted", "off", key)
                #expect(try await there.switchProvider("scripted", plan, key).status == 200)
                try await TestServer.with(
                    database: first.databaseURL, providers: Self.providers, admin: Self.admin
                ) { third in
                    let client = APIClient(third)
                    let refused = try await client.present(.somebody("ada"), to: "scripted")
                    expectError(refused, 403, "PROVIDER_DISABLED")
                    #expect(try await client.endSwitch("scripted", key).status == 200)
                    #expect(
                        try await client.present(.somebody("ada"), to: "scripted")["user"]["id"].string == person.uid)
                }
            }
        }
    }

    @Test func `a server whose configuration is older keeps a switch, also once it has loaded the newer one`()
        async throws
    {
        let newer = "scripted: { mode: existing }"
        try await TestServer.with(providers: Self.providers, admin: Self.admin) { behind in
            try await TestServer.with(database: behind.databaseURL, providers: newer, admin: Self.admin) { ahead in
                let client = APIClient(ahead)
                let key = try await ahead.serviceKey()
                _ = try await APIClient(behind).newcomer("ada")
                let plan = try await client.plan("scripted", "off", key)
                #expect(try await client.switchProvider("scripted", plan, key).status == 200)
                func expectSwitch(_ state: Comment) async throws {
                    try await behind.server.switches.refresh()
                    #expect(
                        try await behind.count("SELECT count(*) FROM provider_switches WHERE ended_at IS NULL") == 1,
                        state)
                    let answer = try await APIClient(behind).present(.somebody("ada"), to: "scripted")
                    #expect(answer.code == "PROVIDER_DISABLED", state)
                }
                try await expectSwitch("with the older configuration")
                let configuration = try Configuration.parse(
                    TestServer.yaml(providers: newer, admin: Self.admin), file: "test.yaml",
                    environment: ["DATABASE_URL": behind.databaseURL], installed: TestServer.providers)
                try await behind.server.take(over: configuration, sections: [.applications])
                try await expectSwitch("with the newer configuration")
            }
        }
    }

    @Test func `of twenty switches at once one wins`() async throws {
        try await TestServer.with(providers: Self.providers, admin: Self.admin) { server in
            let client = APIClient(server)
            let key = try await server.serviceKey()
            var plans = [try await client.plan("scripted", "off", key)]
            for round in 0..<2 {
                let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { [plans] group in
                    for index in 0..<20 {
                        group.addTask {
                            try await client.switchProvider("scripted", plans[index % plans.count], key)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.text))")
                #expect(answers.filter { $0.status != 200 }.allSatisfy { $0.code == "PLAN_STALE" })
                let inForce = try await server.count("SELECT count(*) FROM provider_switches WHERE ended_at IS NULL")
                #expect(inForce == 1)
                let events = try await server.audited().filter { $0.event == "provider.switched" }
                #expect(events.count == round + 1)
                #expect(try await client.endSwitch("scripted", key).status == 200)
                // The second time, each administrator has a plan of their own.
                plans = []
                for _ in 0..<5 { plans.append(try await client.plan("scripted", "off", key)) }
            }
        }
    }

    @Test func `the file ends a switch when its own mode changes or agrees`() async throws {
        let directory = try TemporaryDirectory()
        try await TestServer.with(providers: Self.providers, admin: Self.admin) { server in
            func yaml(_ mode: String) -> String {
                TestServer.yaml(providers: "scripted: { mode: \(mode) }", admin: Self.admin)
            }
            let path = try directory.write(TestServer.yaml(providers: Self.providers, admin: Self.admin))
            let environment = ["DATABASE_URL": server.databaseURL]
            let reload = ConfigurationReload(
                of: try Configuration.load(
                    path: path, environment: environment, installed: TestServer.providers),
                path: path, environment: environment, installed: TestServer.providers, logger: TestServer.silence,
                takeOver: server.server.take(over:sections:))
            let client = APIClient(server)
            let key = try await server.serviceKey()
            _ = try await client.newcomer("ada")
            func switchTo(_ mode: String, _ options: [String: JSONValue] = [:]) async throws {
                let plan = try await client.plan("scripted", mode, key)
                let answer = try await client.switchProvider("scripted", plan, key, options)
                try #require(answer.status == 200, "\(answer.text)")
            }
            func ends() async throws -> [JSONValue] {
                try await server.audited().filter { $0.event == "provider.switch-ended" }.map { $0.details["because"] }
            }

            try await switchTo("linkOnly")
            try directory.write(yaml("existing"))
            await reload.poll()
            #expect(try await ends() == ["superseded"])
            try await eventually("the change is recorded") {
                try await server.audited().contains { $0.event == "provider.mode-changed" }
            }
            #expect(try await client.present(.somebody("ada"), to: "scripted").status == 200)
            expectError(try await client.present(.somebody("new"), to: "scripted"), 403, "PROVIDER_DISABLED")

            try await switchTo("off", ["sessions": "end"])
            try directory.write(yaml("off"))
            await reload.poll()
            #expect(try await ends() == ["superseded", "adopted"])
            let listing: StaticString = "SELECT count(*) FROM provider_switches WHERE sessions_listed_at IS NOT NULL"
            #expect(try await server.count(listing) == 1, "the second listing is still to come")
            try await server.age("provider_switches", "sessions_listed_at", by: "60 seconds")
            try await eventually("the work that was left is done") { try await server.count(listing) == 0 }
            expectError(try await client.present(.somebody("ada"), to: "scripted"), 403, "PROVIDER_DISABLED")

            // Each change of the file is recorded with what it does to accounts.
            try await eventually("both changes are recorded") {
                try await server.audited().count { $0.event == "provider.mode-changed" } == 2
            }
            let changes = try await server.audited().filter { $0.event == "provider.mode-changed" }.map(\.details)
            #expect(
                changes.map { $0["to"] } == ["existing", "off"] && changes.map { $0["from"] } == ["open", "existing"])
            #expect(changes.map { $0["stranded"] } == [0, 1])
            #expect(try await client.get("/admin/providers", bearer: key)["items"].array?.count == 3)
        }
    }

    @Test func `a changed mode that could not be recorded is recorded later`() async throws {
        let log = CollectedLog()
        try await TestServer.with(providers: Self.providers, logger: log.logger) { server in
            try await eventually("the modes are recorded") {
                try await server.count("SELECT count(*) FROM provider_modes") == 3
            }
            try await server.execute(
                "ALTER TABLE provider_modes ADD CONSTRAINT refusing CHECK (mode <> 'existing')")
            let configuration = try Configuration.parse(
                TestServer.yaml(providers: "scripted: { mode: existing }"), file: "test.yaml",
                environment: ["DATABASE_URL": server.databaseURL], installed: TestServer.providers)
            try await server.server.take(over: configuration, sections: [.applications])
            try await eventually("the recording fails") {
                log.lines.contains { $0.hasPrefix("warning Changed modes of providers are not in the audit yet") }
            }
            try await server.execute("ALTER TABLE provider_modes DROP CONSTRAINT refusing")
            try await eventually("the change is recorded") {
                server.server.switches.recordAgain()
                return try await server.audited().contains { $0.event == "provider.mode-changed" }
            }
        }
    }

    @Test func `an expiring secret is shown, and logged once a day from 30 days before`() async throws {
        let day: TimeInterval = 86_400
        let expiry = try #require(Timestamp("2031-05-10T00:00:00Z")?.date)
        try await TestServer.with(
            providers: "scripted: { secretExpires: 2031-05-10 }", admin: Self.admin
        ) { server in
            let client = APIClient(server)
            let items = try await client.get("/admin/providers", bearer: server.serviceKey())["items"].array ?? []
            let scripted = try #require(items.first { $0["name"] == "scripted" })
            #expect(scripted["secretExpires"] == "2031-05-10" && scripted["line"].integer != nil)
            #expect(scripted["callbackURL"].string?.hasSuffix("/api/v1/auth/oauth/scripted/callback") == true)
            #expect(scripted["health"]["state"] == "unknown" && scripted["health"]["findings"] == [])
            #expect(scripted["last24h"]["signIns"] == 0)
            #expect(items.first { $0["name"] == "email" }?["secretExpires"] == .null)

            let log = CollectedLog()
            let report = SecretExpiryLog(logger: log.logger)
            report.report(server.server.site.configured, now: expiry - 31 * day)
            #expect(log.lines.isEmpty)
            for hours in [0, 1, 23] {
                report.report(server.server.site.configured, now: expiry - 30 * day + Double(hours) * 3600)
            }
            #expect(log.lines.count == 1)
            #expect(log.lines.first?.contains("expires soon") == true && log.lines.first?.contains("scripted") == true)
            report.report(server.server.site.configured, now: expiry + day)
            #expect(log.lines.count == 2 && log.lines.last?.contains("has expired") == true)
        }
    }
}
