import Accounts
import Foundation
import GatehouseTesting
import NIOHTTP1
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// The device grant (RFC 8628): a device shows a code, and a person allows it in a browser.
struct DeviceGrantTests {
    @Test func `a person connects a device by typing its code`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            #expect(
                device.answer.json.keys == [
                    "device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in",
                    "interval",
                ])
            #expect(device.answer["expires_in"] == 600 && device.answer["interval"] == 5)
            #expect(device.answer["verification_uri"] == "http://127.0.0.1:1/device")
            #expect(
                device.answer["verification_uri_complete"].string
                    == "http://127.0.0.1:1/device?user_code=\(device.userCode)")
            #expect(device.userCode.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil)
            #expect(device.answer.headers.first(name: "cache-control") == "no-store")
            #expect(device.answer.headers.first(name: "access-control-allow-origin") == "*")

            var browser = PageBrowser(server)
            let signIn = try await browser.enter(device.userCode.lowercased().replacing("-", with: ""))
            #expect(signIn.step == "signin" && !signIn.text.contains("Photos TV"), "nothing is told before the sign-in")
            let confirm = try await browser.signIn(ada, at: signIn)
            #expect(confirm.step == "device-confirm" && confirm.forms.map(\.actions) == [["allow", "deny"]])
            for shown in ["Photos TV", device.userCode, "127.0.0.1", ada.email, "See your e-mail address"] {
                #expect(confirm.text.contains(shown), "\(shown)")
            }
            #expect(!confirm.text.contains("does not belong to"))
            #expect(try await device.poll().isOAuthError(400, "authorization_pending"))
            let done = try await browser.submit("allow", of: confirm)
            #expect(done.status == 200 && done.step == "done" && done.answer.text.contains("Device connected"))

            let tokens = try await device.pollInTime()
            #expect(tokens.status == 200, "\(tokens.text)")
            #expect(
                tokens.json.keys == [
                    "access_token", "token_type", "expires_in", "scope", "id_token", "refresh_token",
                ])
            #expect(tokens["scope"] == "email offline_access openid", "a device that asks for nothing gets all")
            let identity = try DecodedToken(tokens["id_token"].string ?? "").claims
            #expect(identity["aud"] == "tv" && identity["sub"].string == ada.uid && identity["nonce"] == .null)
            #expect(identity["amr"] == ["pwd"] && identity["acr"] == "1")
            let proven = try await server.count(
                "SELECT floor(extract(epoch FROM authenticated_at))::int8 FROM sessions WHERE kind = 'browser'")
            #expect(identity["auth_time"].integer.map(Int.init) == proven)
            #expect(try await device.client.userInfo(tokens["access_token"].string ?? "")["email"].string == ada.email)
            #expect(try await device.pollInTime().isOAuthError(400, "invalid_grant"), "a code works once")
        }
    }

    @Test func `the session of a device stands alone`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let devices = [try await Device(server), try await Device(server)]
            var tokens: [APIClient.Answer] = []
            for device in devices {
                try await browser.allow(device, as: ada)
                tokens.append(try await device.pollInTime())
            }
            let sessions = try tokens.map { try DecodedToken($0["access_token"].string ?? "").claims["sid"].string }
            #expect(Set(sessions).count == 2, "each device has its own session")
            #expect(
                try await server.count("SELECT count(*) FROM sessions WHERE client_id = 'tv' AND parent_id IS NULL")
                    == 2)
            let listed = try await APIClient(server).get("/auth/sessions", bearer: ada.accessToken)
            let ofDevice = listed["sessions"].array?.filter { $0["client"]["id"] == "tv" } ?? []
            #expect(ofDevice.count == 2 && ofDevice.allSatisfy { $0["kind"] == "client" && $0["browser"] == .null })

            let signOut = try await browser.open("/oauth/logout")
            _ = try await browser.submit("signout", of: signOut)
            let refreshed = try await devices[0].client.refresh(tokens[0]["refresh_token"].string ?? "")
            #expect(refreshed.status == 200, "the browser was signed out, not the device: \(refreshed.text)")
            let id = sessions[1] ?? ""
            let ended = try await APIClient(server).delete("/auth/sessions/\(id)", bearer: ada.accessToken)
            #expect(ended.status == 204)
            let late = try await devices[1].client.refresh(tokens[1]["refresh_token"].string ?? "")
            #expect(late.isOAuthError(400, "invalid_grant"))
            #expect(
                try await devices[0].client.post("/oauth/revoke", ["token": refreshed["refresh_token"].string ?? ""])
                    .status == 200)
            let revoked = refreshed["access_token"].string ?? ""
            #expect(try await devices[0].client.userInfo(revoked).isOAuthError(401, "invalid_token"))
        }
    }

    @Test func `a device without a refresh token has a session as long as its access token`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server, ["scope": "openid"])
            var browser = PageBrowser(server)
            try await browser.allow(device, as: ada)
            let tokens = try await device.pollInTime()
            #expect(tokens["scope"] == "openid" && tokens["refresh_token"] == .null)
            let claims = try DecodedToken(tokens["access_token"].string ?? "").claims
            let expiry = try await server.count(
                "SELECT round(extract(epoch FROM expires_at))::int8 FROM sessions WHERE client_id = 'tv'")
            // The session lives a second longer, and both times are rounded.
            #expect((0...2).contains(expiry - Int(claims["exp"].integer ?? 0)))
        }
    }

    @Test func `a link with the code fills in the page, and does nothing else`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            let device = try await Device(server)
            var browser = PageBrowser(server)
            try await browser.allow(try await Device(server), as: ada)
            let page = try await browser.open(device.answer["verification_uri_complete"].string ?? "")
            #expect(page.step == "device" && page.forms.first?.fields["user_code"] == device.userCode)
            let german = try await browser.open("\(page.path.prefix { $0 != "?" })?lang=de")
            #expect(german.text.contains("<html lang=\"de\">"))
            #expect(german.forms.first?.fields["user_code"] == device.userCode)
            #expect(try await device.poll().isOAuthError(400, "authorization_pending"))
            let confirm = try await browser.submit("continue", of: german)
            #expect(confirm.step == "device-confirm" && confirm.text.contains("Fernseher"))
            let hostile = "\"><script>alert(1)</script>"
            let other = try await browser.open("/device?user_code=\(hostile.formEncoded)")
            #expect(other.forms.first?.fields["user_code"] == hostile && !other.text.contains("<script>alert"))
            let long = try await browser.open("/device?user_code=\(String(repeating: "B", count: 65))")
            #expect(long.step == "device" && long.forms.first?.fields["user_code"] == "")
        }
    }

    @Test func `the page and the mail say where the device is, if that is known`() async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = "\(directory.path)/places.mmdb"
        try Data(PlaceFileFixture.bytes(network: [127])).write(to: URL(filePath: path))
        try await TestServer.with(
            application: Device.configuration, network: "allowPrivateHosts: true, geoIP: \"\(path)\""
        ) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            browser.headers.add(name: "accept-language", value: "de")
            let page = try await browser.confirm(try await Device(server), as: ada)
            #expect(
                page.text.contains("München, Bayern, Deutschland") && page.text.contains("127.0.0.1"), "\(page.text)")
            #expect(try await browser.submit("allow", of: page).step == "done")
            let mails = try await APIClient(server).mails(to: ada.email, at: server, count: 2)
            let notice = mails.first { $0.text.contains("- 127.0.0.1\n\n") }
            #expect(notice?.text.contains(/Deutschland|Germany/) == true, "\(mails)")
        }
    }

    @Test func `the owner gets a mail, and the audit has the answer`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            try await browser.allow(try await Device(server), as: ada)
            let refused = try await browser.submit("deny", of: browser.confirm(try await Device(server), as: ada))
            #expect(refused.step == "done" && refused.text.contains("Device not connected"))
            let mails = try await APIClient(server).mails(to: ada.email, at: server, count: 2)
            let notices = mails.filter { $0.subject?.hasPrefix("A device was connected") == true }
            #expect(notices.count == 1 && notices.first?.text.contains("Photos TV") == true, "\(mails)")
            let audited = try await server.text(
                """
                SELECT string_agg(event || ' ' || details::text, ', ' ORDER BY at) FROM audit_events
                 WHERE event LIKE 'device.%' AND account IS NOT NULL AND session_id IS NOT NULL
                """)
            #expect(audited == #"device.approved {"client": "tv"}, device.denied {"client": "tv"}"#)
        }
    }

    // MARK: - Polls

    @Test func `a poll is told what the device has to know`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let waiting = try await Device(server)
            #expect(
                try await waiting.poll().isOAuthError(400, "authorization_pending"), "the first poll is never early")
            #expect(try await waiting.pollInTime().isOAuthError(400, "authorization_pending"))
            let denied = try await Device(server)
            _ = try await browser.submit("deny", of: browser.confirm(denied, as: ada))
            #expect(try await denied.poll().isOAuthError(400, "access_denied"))
            #expect(try await denied.pollInTime().isOAuthError(400, "access_denied"))
            let allowed = try await Device(server)
            try await browser.allow(allowed, as: ada)
            try await server.age("handoffs", "expires_at", by: "10 minutes", where: "state <> 'refused'")
            for device in [waiting, allowed] {
                #expect(try await device.pollInTime().isOAuthError(400, "expired_token"))
            }
            for code in ["", "x", server.backend.opaque.make().text, waiting.userCode] {
                let answer = try await waiting.poll(["device_code": code])
                #expect(answer.isOAuthError(400, code.isEmpty ? "invalid_request" : "invalid_grant"), "\(code)")
            }
            let metrics = try await APIClient(server).send(.GET, "/metrics").text
            for (outcome, count) in [("shown", 3), ("confirmed", 1), ("refused", 1)] {
                let line = #"gatehouse_handoffs_total{kind="device",outcome="\#(outcome)"} \#(count).0"#
                #expect(metrics.contains(line), "\(metrics)")
            }
        }
    }

    @Test func `a device that polls too often is slowed down, whatever its state`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            let device = try await Device(server)
            #expect(try await device.poll().isOAuthError(400, "authorization_pending"))
            for interval in ["00:00:10", "00:00:15"] {
                try await server.hastenPolls()
                #expect(try await device.poll().isOAuthError(400, "slow_down"))
                #expect(try await server.text("SELECT poll_interval::text FROM handoffs") == interval)
            }
            // The longer interval counts for all later polls.
            try await server.execute(
                "UPDATE handoffs SET polled_at = now() - interval '1 hour', poll_interval = interval '2 hours'")
            #expect(try await device.poll().isOAuthError(400, "slow_down"))
            try await server.execute("UPDATE handoffs SET poll_interval = interval '5 seconds'")
            try await browser.allow(device, as: ada)
            try await server.hastenPolls()
            #expect(try await device.poll().isOAuthError(400, "slow_down"), "allowed")
            try await server.age("handoffs", "expires_at", by: "10 minutes")
            try await server.hastenPolls()
            #expect(try await device.poll().isOAuthError(400, "slow_down"), "expired")
            try await server.execute("UPDATE handoffs SET expires_at = now() + interval '10 minutes'")
            #expect(try await device.pollInTime().status == 200)
            try await server.hastenPolls()
            #expect(try await device.poll().isOAuthError(400, "slow_down"), "used")
            #expect(try await device.pollInTime().isOAuthError(400, "invalid_grant"))
            #expect(try await server.count("SELECT count(*) FROM sessions WHERE client_id = 'tv'") == 1)
        }
    }

    @Test func `a device gets what its client may have, and names one resource`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let radio = Device.client("radio", at: server)
            for scope in ["phone", "account", "nothing"] {
                let answer = try await radio.post("/oauth/device", ["scope": scope])
                #expect(answer.isOAuthError(400, "invalid_scope"), "\(scope)")
            }
            let foreign = try await radio.post("/oauth/device", ["resource": "https://other.example"])
            #expect(foreign.isOAuthError(400, "invalid_target"))
            for client in ["web", "jobs"] {
                let answer = try await Device.client(client, at: server).post("/oauth/device", [:])
                #expect(answer.isOAuthError(400, "unauthorized_client"), "\(client)")
            }
            var impostor = radio
            impostor.secret = "not the secret of this client, but as long"
            #expect(try await impostor.post("/oauth/device", [:]).isOAuthError(401, "invalid_client"))
            #expect(
                try await radio.post("/oauth/device?device_code=x", [:]).isOAuthError(400, "invalid_request"))

            let ada = try await APIClient(server).register(at: server)
            let resource = "https://api.photos.example"
            let device = try await Device(
                server, client: "radio", ["scope": "openid read phone", "resource": resource])
            var browser = PageBrowser(server)
            let confirm = try await browser.confirm(device, as: ada)
            #expect(confirm.text.contains("See your photos"))
            _ = try await browser.submit("allow", of: confirm)
            let other = try await device.pollInTime(["resource": "https://other.example"])
            #expect(other.isOAuthError(400, "invalid_target"), "nothing is used up: \(other.text)")
            let tokens = try await device.pollInTime()
            #expect(tokens["scope"] == "openid read" && tokens["expires_in"] == 600, "\(tokens.text)")
            let audience = try DecodedToken(tokens["access_token"].string ?? "").claims["aud"]
            #expect(audience == .array([.string(resource), "http://127.0.0.1:1"]))
        }
    }

    // MARK: - Where it is

    @Test func `there is no trace of devices where no client has them`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            let party = RelyingParty(server)
            expectError(try await party.post("/oauth/device", [:]), 404, "NOT_FOUND")
            for path in ["/oauth/device", "/device"] {
                expectError(try await party.api.send(.GET, path), 404, "NOT_FOUND")
                let page = try await party.api.send(.GET, path, headers: ["accept": "text/html"])
                #expect(page.status == 404 && page.text.contains("data-error=\"not_found\""), "\(path)")
            }
            let metadata = try await party.api.send(.GET, "/.well-known/openid-configuration")
            #expect(metadata["device_authorization_endpoint"] == .null)
            #expect(
                metadata["grant_types_supported"].array?.contains { $0.string?.contains("device") == true } == false)
        }
        try await TestServer.with(application: Device.configuration) { server in
            let metadata = try await APIClient(server).send(.GET, "/.well-known/openid-configuration")
            #expect(metadata["device_authorization_endpoint"] == "http://127.0.0.1:1/oauth/device")
            #expect(
                metadata["grant_types_supported"].array?.last == "urn:ietf:params:oauth:grant-type:device_code")
        }
    }

    @Test func `requests of devices are removed an hour after their end, and with their account`() async throws {
        try await TestServer.with(application: Device.configuration) { server in
            let ada = try await APIClient(server).register(at: server)
            var browser = PageBrowser(server)
            try await browser.allow(try await Device(server), as: ada)
            let waiting = try await Device(server)
            let late = try await Device(server)
            try await server.age("handoffs", "expires_at", by: "15 minutes", where: "state = 'waiting'")
            _ = try await server.sweep()
            #expect(try await late.poll().isOAuthError(400, "expired_token"))
            try await server.age("handoffs", "expires_at", by: "1 hour", where: "state = 'waiting'")
            _ = try await server.sweep()
            #expect(try await waiting.poll().isOAuthError(400, "invalid_grant"))
            #expect(try await server.count("SELECT count(*) FROM handoffs") == 1)
            try await APIClient(server).deleteAccount(ada)
            try await server.makeDue()
            try await server.erase(ada.uid)
            #expect(try await server.count("SELECT count(*) FROM handoffs") == 0)
        }
    }
}
