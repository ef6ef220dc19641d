import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Devices whose polls and answers come at the same time, or whose account or session ends before the device polls.
struct DeviceRaceTests {
    @Test func `twenty polls at once give one token`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            var browser = PageBrowser(server)
            try await browser.allow(device, as: ada)
            try await server.waitToPoll()
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for _ in 0..<20 { group.addTask { try await device.poll() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.isOAuthError(400, "slow_down") } == 19)
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client'") == 1)
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens WHERE scopes IS NOT NULL") == 1)
            #expect(try await device.pollInTime().isOAuthError(400, "invalid_grant"))
        }
    }

    @Test func `twenty forms that allow a device allow it once`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            var browser = PageBrowser(server)
            let page = try await browser.confirm(device, as: ada)
            let views = try await withThrowingTaskGroup(of: PageBrowser.View.self) { group in
                for _ in 0..<20 {
                    group.addTask { [browser] in
                        var tab = browser
                        return try await tab.submit("allow", of: page)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                views.allSatisfy { $0.status == 200 && $0.text.contains("Device connected") }, "\(views.map(\.text))")
            try await expectAnswers(1, at: server)
            #expect(try await server.count("SELECT count(*) FROM outbox WHERE topic = 'deviceConnected'") == 1)
            #expect(try await device.poll().status == 200)
        }
    }

    @Test func `of several people the first answers a device`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let api = APIClient(server)
            let people = [
                try await api.register(at: server), try await api.register(at: server),
                try await api.register(at: server),
                try await api.register(at: server),
            ]
            let device = try await Device(server)
            var pages: [(browser: PageBrowser, view: PageBrowser.View, action: String)] = []
            for (index, person) in people.enumerated() {
                var browser = PageBrowser(server)
                let view = try await browser.confirm(device, as: person)
                pages.append((browser, view, index == 3 ? "deny" : "allow"))
            }
            let views = try await withThrowingTaskGroup(of: PageBrowser.View.self) { [pages] group in
                for (browser, view, action) in pages {
                    group.addTask {
                        var tab = browser
                        return try await tab.submit(action, of: view)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(views.count { $0.step == "done" } == 1)
            #expect(views.count { $0.step == "device" && $0.problem == "INVALID_CREDENTIALS" } == 3)
            try await expectAnswers(1, at: server)
            let uid = try await server.text("SELECT uid::text FROM handoffs")
            let isAllowed = views.contains { $0.text.contains("Device connected") }
            let answer = try await device.poll()
            #expect(isAllowed ? answer.status == 200 : answer.isOAuthError(400, "access_denied"))
            if isAllowed {
                let claims = try DecodedToken(answer["access_token"].string ?? "").claims
                #expect(claims["sub"].string == uid)
            }
        }
    }

    @Test(arguments: ["tv", "radio"])
    func `a poll that waits for the answer is told to wait, and the next one gets the tokens`(
        client: String
    ) async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server, client: client)
            var browser = PageBrowser(server)
            let page = try await browser.confirm(device, as: ada)
            let (allowed, polled) = try await server.backend.database.transaction { [browser] transaction in
                _ = try await transaction.execute(Self.lockAccount, .uuid(UUID(uuidString: ada.uid)))
                // It has changed the device, and waits for the account.
                let allowed = Task {
                    var tab = browser
                    return try await tab.submit("allow", of: page)
                }
                try await server.awaitBlocked(1)
                let polled = Task { try await device.poll() }
                try await server.awaitBlocked(2)
                return (allowed, polled)
            }
            #expect(try await allowed.value.step == "done")
            let early = try await polled.value
            #expect(early.isOAuthError(400, "authorization_pending"), "\(early.text)")
            let answer = try await device.pollInTime()
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test func `a poll that waits until the browser session has a new identity gives tokens`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let (ada, identity) = (try await APIClient(server).register(at: server), UUID())
            let device = try await Device(server)
            var browser = PageBrowser(server)
            try await browser.allow(device, as: ada)
            let answer = try await server.link(identity, inBrowserOf: ada) { try await device.poll() }
            #expect(answer.status == 200, "\(answer.text)")
            let sessions = try await server.count(
                "SELECT count(*) FROM sessions WHERE kind = 'client' AND identity_id = $1", [.uuid(identity)])
            #expect(sessions == 1)
        }
    }

    private static let lockAccount = Statement(
        .write, "SELECT FROM accounts WHERE application_id = 1 AND uid = $1 FOR NO KEY UPDATE")

    @Test func `twenty polls that race with the answer wait or get the tokens`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            for _ in 0..<20 {
                let device = try await Device(server, client: "radio")
                var browser = PageBrowser(server)
                let page = try await browser.confirm(device, as: ada)
                async let polled = device.poll()
                #expect(try await browser.submit("allow", of: page).step == "done")
                let first = try await polled
                let isAnswered = first.status == 200
                #expect(isAnswered || first.isOAuthError(400, "authorization_pending"), "\(first.text)")
                let second = try await device.pollInTime()
                #expect(isAnswered ? second.isOAuthError(400, "invalid_grant") : second.status == 200)
                try await server.execute("DELETE FROM consents")
            }
        }
    }

    private func expectAnswers(_ count: Int, at server: TestServer) async throws {
        let audited = try await server.count(
            "SELECT count(*) FROM audit_events WHERE event IN ('device.approved', 'device.denied')")
        #expect(audited == count)
    }

    // MARK: - Ends between the answer and the poll

    /// The ends of what has allowed a device.
    private static let ends = SessionEnds.ofAccount + [SessionEnds.ofBrowser, grantTakenBack]

    private static let grantTakenBack: SessionEnd = (
        "the grant taken back",
        { person, server in
            { try await APIClient(server).delete("/auth/grants/radio", bearer: person.accessToken).status }
        }
    )

    @Test func `a device that was allowed gets nothing once what allowed it has ended`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            for (name, end) in Self.ends {
                let person = try await APIClient(server).register(at: server)
                let device = try await Device(server, client: "radio", ["scope": "openid offline_access"])
                var browser = PageBrowser(server)
                let page = try await browser.confirm(device, as: person)
                let call = try await end(person, server)
                #expect(try await browser.submit("allow", of: page).step == "done", "\(name)")
                #expect(try await (200..<300).contains(call()), "\(name)")
                #expect(try await device.poll().isOAuthError(400, "invalid_grant"), "\(name)")
            }
            for idle in ["expires_at = now()", "idle = interval '1 hour', last_used_at = now() - interval '2 hours'"] {
                let person = try await APIClient(server).register(at: server)
                let device = try await Device(server)
                var browser = PageBrowser(server)
                try await browser.allow(device, as: person)
                try await server.backend.database.transaction {
                    try await $0.script("UPDATE sessions SET \(idle) WHERE kind = 'browser'")
                }
                #expect(try await device.poll().isOAuthError(400, "invalid_grant"), "\(idle)")
            }
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE kind = 'client'") == 0)
        }
    }

    @Test func `an end that races with a poll leaves no session of a device`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            for (name, end) in Self.ends where name != "the browser session ended" {
                for _ in 0..<3 {
                    let person = try await APIClient(server).register(at: server)
                    let device = try await Device(server, client: "radio", ["scope": "openid offline_access"])
                    var browser = PageBrowser(server)
                    let page = try await browser.confirm(device, as: person)
                    let call = try await end(person, server)
                    #expect(try await browser.submit("allow", of: page).step == "done", "\(name)")
                    async let ended = call()
                    let answer = try await device.poll()
                    #expect(try await (200..<300).contains(ended), "\(name)")
                    #expect(
                        answer.status == 200 || answer.isOAuthError(400, "invalid_grant"), "\(name): \(answer.text)")
                    let access = answer["access_token"].string ?? ""
                    #expect(try await device.client.userInfo(access).status == 401, "\(name)")
                    let live = try await server.count(
                        "SELECT count(*) FROM sessions WHERE uid = $1 AND kind = 'client' AND ended_at IS NULL",
                        [.uuid(UUID(uuidString: person.uid))])
                    #expect(live == 0, "\(name)")
                }
            }
        }
    }

    @Test func `a device is allowed by an account and a session that are live`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            for (name, end) in Self.ends where name != "the grant taken back" {
                let person = try await APIClient(server).register(at: server)
                let device = try await Device(server)
                var browser = PageBrowser(server)
                let page = try await browser.confirm(device, as: person)
                #expect(try await (200..<300).contains(end(person, server)()), "\(name)")
                let late = try await browser.submit("allow", of: page)
                #expect(late.step != "done" && late.status == 200, "\(name): \(late.status) \(late.text)")
                #expect(try await device.poll().isOAuthError(400, "authorization_pending"), "\(name)")
            }
            try await expectAnswers(0, at: server)
        }
    }

    @Test func `a browser allows at one replica, and the device polls at another`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            try await TestServer.with(database: server.databaseURL, application: Device.configuration) { second in
                let device = try await Device(server)
                var browser = PageBrowser(second)
                try await browser.allow(device, as: ada)
                let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                    for replica in [server, second, server, second] {
                        group.addTask {
                            try await Device.client("tv", at: replica).post(
                                "/oauth/token",
                                [
                                    "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                                    "device_code": device.deviceCode,
                                ])
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count { $0.status == 200 } == 1)
            }
        }
    }
}
