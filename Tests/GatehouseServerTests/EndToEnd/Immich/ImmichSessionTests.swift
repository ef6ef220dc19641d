import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What Immich's apps share with version 1 of the API: passwords, locks and sessions.
struct ImmichSessionTests {
    @Test func `an app is told that the password has to be changed, until it is`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            try await server.execute("UPDATE passwords SET must_change = true")
            let answer = try await app.login(person.email)
            let login = try ImmichModels.decode(ImmichModels.Login.self, from: answer)
            #expect(login.shouldChangePassword, "\(answer.text)")
            let me = try await app.call(.GET, "/users/me", token: login.accessToken)
            #expect(try ImmichModels.decode(ImmichModels.User.self, from: me).shouldChangePassword, "\(me.text)")

            let changed = try await app.call(
                .PUT, "/auth/change-password", ["password": .string(APIClient.otherPassword)],
                token: login.accessToken)
            #expect(changed.status == 200 && changed["shouldChangePassword"] == false, "\(changed.text)")
            let after = try await app.call(.GET, "/users/me", token: login.accessToken)
            #expect(after["shouldChangePassword"] == false, "\(after.text)")
            let again = try await app.login(person.email, APIClient.otherPassword)
            #expect(again.status == 201 && again["shouldChangePassword"] == false, "\(again.text)")
        }
    }

    @Test func `with session access an app has an access token, and is signed out when its session ends`() async throws
    {
        let application = ImmichApp.application + "\n    session: access"
        try await ImmichApp.with(application: application) { server, app in
            let person = try await app.api.register(at: server)
            var tokens: [String] = []
            let password = try await app.login(person.email)
            #expect(password.status == 201, "\(password.text)")
            tokens.append(try ImmichModels.decode(ImmichModels.Login.self, from: password).accessToken)
            let provider = try await app.callback(app.arrive("ada"))
            #expect(provider.status == 201, "\(provider.text)")
            tokens.append(try ImmichModels.decode(ImmichModels.Login.self, from: provider).accessToken)
            #expect(try await server.count("SELECT count(*) FROM session_bearers") == 0)
            // That of the registration is the only one with a refresh token.
            #expect(try await server.count("SELECT count(*) FROM refresh_tokens") == 1)
            let kept = try await server.count(
                "SELECT count(*) FROM sessions WHERE dialect = 'immich' AND renewal = 'none'")
            #expect(kept == 2)
            for token in tokens {
                let claims = try DecodedToken(token).claims
                let lifetime = (claims["exp"].integer ?? 0) - (claims["iat"].integer ?? 0)
                // The session begins in the database, a moment before the token.
                #expect((3590...3600).contains(lifetime), "\(claims)")
                for fields: HTTPHeaders in [["x-immich-user-token": token], ["authorization": "Bearer \(token)"]] {
                    let me = try await app.call(.GET, "/users/me", headers: fields)
                    #expect(me.status == 200, "\(me.text)")
                }
                let listed = try await app.api.get("/auth/sessions", bearer: token)
                let current = listed["sessions"].array?.first { $0["current"] == true }
                #expect(current != nil, "\(listed.text)")
                let pin = try await app.call(.PUT, "/auth/pin-code", ["pinCode": "1234"], token: token)
                #expect(pin.status == 204, "\(pin.text)")
                let left = try await app.call(.POST, "/auth/logout", [:], token: token)
                #expect(left.status == 200, "\(left.text)")
                let dead = try await app.call(.GET, "/users/me", token: token)
                expectImmich(dead, 401, "INVALID_TOKEN", "Invalid user token")
            }
        }
    }

    @Test func `pages of a listed origin may send the app's own fields`() async throws {
        try await ImmichApp.with { _, app in
            let fields = ["devicemodel", "devicetype", "x-immich-user-token", "x-immich-session-token"]
            var headers: HTTPHeaders = [
                "origin": "http://localhost:3000", "access-control-request-method": "POST",
                "access-control-request-headers": fields.joined(separator: ", "),
            ]
            for path in ["/auth/login", "/users/me", "/auth/pin-code"] {
                let answer = try await app.call(.OPTIONS, path, headers: headers)
                #expect(answer.status == 204 && answer.body.isEmpty, "\(path): \(answer.text)")
                #expect(answer.headers.first(name: "cache-control") == "no-store")
                #expect(answer.headers.first(name: "access-control-allow-origin") == "http://localhost:3000")
                let allowed = (answer.headers.first(name: "access-control-allow-headers") ?? "").lowercased()
                let names = Set(allowed.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
                #expect(names.isSuperset(of: fields), "\(path): \(names)")
                #expect(names.isSuperset(of: ["authorization", "content-type"]), "\(path): \(names)")
            }
            headers.replaceOrAdd(name: "origin", value: "https://evil.example")
            let refused = try await app.call(.OPTIONS, "/auth/login", headers: headers)
            #expect(refused.status == 403, "\(refused.text)")
            #expect(refused.headers.first(name: "access-control-allow-origin") == nil)
            #expect(refused.headers.first(name: "access-control-allow-headers") == nil)
        }
        try await TestServer.with { server in
            let answer = try await APIClient(server).send(
                .OPTIONS, "/api/v1/auth/me",
                headers: ["origin": "http://localhost:3000", "access-control-request-method": "GET"])
            let allowed = (answer.headers.first(name: "access-control-allow-headers") ?? "").lowercased()
            #expect(!allowed.contains("immich") && !allowed.contains("devicemodel"), "the dialect is off")
        }
    }

    @Test func `wrong passwords of an app lock version 1 of the API, and the other way round`() async throws {
        try await ImmichApp.with { server, app in
            let words = "Too many tries. Please wait a moment."
            let (first, second) = (try await app.api.register(at: server), try await app.api.register(at: server))
            for _ in 1...10 {
                let wrong = try await app.login(first.email, "not the password")
                expectImmich(wrong, 401, "INVALID_CREDENTIALS", "Incorrect email or password")
            }
            expectError(try await app.api.login(first.email), 429, "IDENTITY_TEMPORARILY_LOCKED")
            expectImmich(try await app.login(first.email), 429, "IDENTITY_TEMPORARILY_LOCKED", words)
            for _ in 1...10 {
                expectError(try await app.api.login(second.email, "not the password"), 401, "INVALID_CREDENTIALS")
            }
            expectImmich(try await app.login(second.email), 429, "IDENTITY_TEMPORARILY_LOCKED", words)
            try await server.unlockAll()
            #expect(try await app.login(first.email).status == 201)
            #expect(try await app.api.login(first.email).status == 200)
        }
    }
}
