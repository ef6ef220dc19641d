import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What an app of Immich does, with the models that it decodes.
struct ImmichTests {
    @Test func `an app finds the server and what it can do`() async throws {
        try await ImmichApp.with { _, app in
            let found = try await app.api.send(.GET, "/.well-known/immich")
            #expect(found.text == #"{"api":{"endpoint":"/api"}}"#)
            let ping = try await app.call(.GET, "/server/ping")
            #expect(ping.text == #"{"res":"pong"}"#)
            let version = try await app.call(.GET, "/server/version")
            #expect(version.text == #"{"major":1,"minor":119,"patch":0}"#)
            let config = try ImmichModels.decode(
                ImmichModels.Config.self, from: try await app.call(.GET, "/server/config"))
            #expect(config.oauthButtonText == "Login with Company" && config.userDeleteDelay == 30)
            #expect(config.externalDomain == "http://127.0.0.1:1" && config.isInitialized && config.trashDays == 30)
            let features = try ImmichModels.decode(
                ImmichModels.Features.self, from: try await app.call(.GET, "/server/features"))
            #expect(features.oauth && features.passwordLogin && features.email && features.configFile)
            #expect(!features.oauthAutoLaunch && !features.trash && !features.search)
        }
    }

    @Test func `the app has no button for a provider that is switched off`() async throws {
        try await TestServer.with(
            application: ImmichApp.application, providers: ImmichApp.providers, admin: "{ application: demo }"
        ) { server in
            let (app, key) = (ImmichApp(api: APIClient(server)), try await server.serviceKey())
            let switched = try await app.api.switchProvider(
                "scripted", app.api.plan("scripted", "off", key), key)
            #expect(switched.status == 200, "\(switched.text)")
            #expect(try await app.call(.GET, "/server/features")["oauth"] == false)
        }
    }

    @Test func `the configuration speaks for the back end, but not for Gatehouse`() async throws {
        let application = """
            dialects:
              immich:
                passwords: false
                loginPageMessage: Hello
                config: { trashDays: 7, mapVersion: 3, oauthButtonText: Theirs, isOnboarded: false, userDeleteDelay: 1 }
                features: { trash: true, memories: true, oauth: true, passwordLogin: true, configFile: false }
            """
        try await ImmichApp.with(application: application, providers: "") { server, app in
            let config = try await app.call(.GET, "/server/config")
            #expect(config["trashDays"] == .integer(7) && config["loginPageMessage"] == "Hello")
            #expect(config["mapVersion"] == .integer(3), "members that Gatehouse does not know are passed on")
            #expect(config["isOnboarded"] == true && config["userDeleteDelay"] == .integer(30), "ours win")
            #expect(config["oauthButtonText"] == "" && !config.text.contains("Theirs"), "ours win: there is no button")
            let features = try await app.call(.GET, "/server/features")
            #expect(features["trash"] == true && features["passwordLogin"] == false && features["oauth"] == false)
            #expect(features["memories"] == true && features["configFile"] == true)
            for answer in [config, features] {
                let names = answer.text.split(separator: "\"").filter { $0 == "isOnboarded" || $0 == "configFile" }
                #expect(names.count == 1, "no member is there twice: \(answer.text)")
            }
            let version = try await app.call(.GET, "/server/version")
            #expect(version.status == 404)
            let person = try await app.api.register(at: server)
            let refused = try await app.login(person.email)
            expectImmich(refused, 403, "PROVIDER_DISABLED", "This way of signing in is switched off.")
        }
    }

    @Test func `an app signs in with a password, is itself, and leaves`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let device: HTTPHeaders = ["deviceModel": "iPhone 14 Pro", "deviceType": "iOS"]
            let answer = try await app.login(person.email, headers: device)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.headers.first(name: "cache-control") == "no-store")
            let login = try ImmichModels.decode(ImmichModels.Login.self, from: answer)
            #expect(login.accessToken.hasPrefix("ghs_") && login.userId == person.uid)
            #expect(login.userEmail == person.email && login.name == person.email && !login.isAdmin)
            let sessions = try await app.api.get("/auth/sessions", bearer: login.accessToken)
            let devices = sessions["sessions"].array?.compactMap { $0["device"].string } ?? []
            #expect(devices.contains("iPhone 14 Pro, iOS"), "\(sessions.text)")

            let me = try await app.call(.GET, "/users/me", token: login.accessToken)
            let user = try ImmichModels.decode(ImmichModels.User.self, from: me)
            #expect(user.id == person.uid && user.email == person.email && user.oauthId.isEmpty)
            #expect(user.createdAt.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            let renamed = try await app.call(.PUT, "/users/me", ["name": "Ada"], token: login.accessToken)
            #expect(try ImmichModels.decode(ImmichModels.User.self, from: renamed).name == "Ada")
            let valid = try await app.call(.POST, "/auth/validateToken", token: login.accessToken)
            #expect(valid.status == 200 && valid.text == #"{"authStatus":true}"#)

            let left = try await app.call(.POST, "/auth/logout", [:], token: login.accessToken)
            #expect(left.status == 200)
            #expect(left.text == #"{"successful":true,"redirectUri":"/auth/login?autoLaunch=0"}"#)
            let calls: [(HTTPMethod, String)] = [
                (.GET, "/users/me"), (.POST, "/auth/logout"), (.POST, "/auth/validateToken"),
            ]
            for (method, path) in calls {
                let dead = try await app.call(method, path, token: login.accessToken)
                expectImmich(dead, 401, "INVALID_TOKEN", "Invalid user token", path)
            }
        }
    }

    @Test func `an administrator of the back end is who has the role, by nothing else`() async throws {
        let settings = ImmichApp.application + "\n    administrators: { role: photos-admin }"
        try await ImmichApp.with(application: settings) { server, app in
            let person = try await app.api.register(at: server)
            let login = try await app.login(person.email)
            let token = login["accessToken"].string
            #expect(login["isAdmin"] == false)
            let forged: JSONValue = ["isAdmin": true, "roles": ["photos-admin"], "role": "photos-admin"]
            let changed = try await app.call(.PUT, "/users/me", forged, token: token)
            #expect(changed["isAdmin"] == false, "\(changed.text)")
            _ = try await app.api.patch("/auth/me", ["metadata": forged], bearer: token)
            try await server.setAccess(["admin"], claims: forged.object, of: person.uid)
            let still = try await app.call(.GET, "/users/me", token: token)
            #expect(still["isAdmin"] == false, "\(still.text)")

            try await server.setAccess(["admin", "photos-admin"], of: person.uid)
            let me = try await app.call(.GET, "/users/me", token: token)
            #expect(me["isAdmin"] == true, "\(me.text)")
            let again = try await app.login(person.email)
            #expect(again["isAdmin"] == true, "\(again.text)")
        }
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            try await server.setAccess(["admin", "photos-admin"], of: person.uid)
            #expect(try await app.login(person.email)["isAdmin"] == false, "without the setting no account is one")
        }
    }

    @Test func `a token counts in any of three fields, but never two tokens or one in the URL`() async throws {
        try await ImmichApp.with { server, app in
            let (token, other) = (try await app.token(at: server), try await app.token(at: server))
            for fields: HTTPHeaders in [
                ["authorization": "Bearer \(token)"], ["x-immich-user-token": token],
                ["x-immich-session-token": token],
                ["authorization": "Bearer \(token)", "x-immich-user-token": token],
            ] {
                let answer = try await app.call(.GET, "/users/me", headers: fields)
                #expect(answer.status == 200, "\(fields)")
            }
            for fields: HTTPHeaders in [
                [:], ["authorization": "Bearer \(token)", "x-immich-user-token": other],
                ["x-immich-user-token": token, "x-immich-session-token": other], ["x-api-key": token],
            ] {
                let answer = try await app.call(.GET, "/users/me", headers: fields)
                expectImmich(answer, 401, "INVALID_TOKEN", "Invalid user token", "\(fields)")
            }
            for query in ["sessionKey", "apiKey", "access_token"] {
                let answer = try await app.call(.GET, "/users/me?\(query)=\(token)")
                #expect(answer.status == 401, "\(query)")
            }
            let elsewhere = try await app.api.send(.GET, "/api/v1/auth/me", headers: ["x-immich-user-token": token])
            expectError(elsewhere, 401, "INVALID_TOKEN")
        }
    }

    @Test func `a password is changed by the current one or right after the sign-in`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let token = try #require(try await app.login(person.email)["accessToken"].string)
            let other = try #require(try await app.login(person.email)["accessToken"].string)
            let fresh = try await app.call(
                .PUT, "/auth/change-password", ["password": .string(APIClient.otherPassword)], token: token)
            #expect(fresh.status == 200, "\(fresh.text)")
            try ImmichModels.decode(ImmichModels.User.self, from: fresh)
            let ended = try await app.call(.GET, "/users/me", token: other)
            #expect(ended.status == 401)

            try await server.letPass(.seconds(600))
            let third = try #require(try await app.login(person.email, APIClient.otherPassword)["accessToken"].string)
            try await server.letPass(.seconds(600))
            for (method, path): (HTTPMethod, String) in [(.PUT, "/auth/change-password"), (.PUT, "/users/me")] {
                let late = try await app.call(
                    method, path, ["password": .string(APIClient.thirdPassword)], token: token)
                expectImmich(late, 403, "TOKEN_TOO_OLD", "Sign in again to do this.", path)
            }
            var body: [String: JSONValue] = [
                "password": "not the password", "newPassword": .string(APIClient.thirdPassword),
                "invalidateSessions": false,
            ]
            let wrong = try await app.call(.POST, "/auth/change-password", .object(body), token: token)
            expectImmich(wrong, 400, "INVALID_CREDENTIALS", "Wrong password")
            body["password"] = .string(APIClient.otherPassword)
            let right = try await app.call(.POST, "/auth/change-password", .object(body), token: token)
            #expect(right.status == 200, "\(right.text)")
            let kept = try await app.call(.GET, "/users/me", token: third)
            #expect(kept.status == 200)
        }
    }

    @Test func `a PIN is set, unlocks the session and is never answered with 401`() async throws {
        try await ImmichApp.with { server, app in
            let token = try await app.token(at: server)
            let none = try await app.call(.GET, "/auth/status", token: token)
            let status = try ImmichModels.decode(
                ImmichModels.Status.self, from: none, optional: ["expiresAt", "pinExpiresAt"])
            #expect(!status.pinCode && status.password && !status.isElevated && status.pinExpiresAt == nil)
            let set = try await app.call(.PUT, "/auth/pin-code", ["pinCode": "1234"], token: token)
            #expect(set.status == 204 && set.headers.first(name: "cache-control") == "no-store", "\(set.text)")
            let again = try await app.call(.POST, "/auth/pin-code", ["pinCode": "4321"], token: token)
            expectImmich(again, 400, "EXISTING_PIN", "User already has a PIN code")

            for path in ["/auth/pin-code/verify", "/auth/session/unlock"] {
                let wrong = try await app.call(.POST, path, ["pinCode": "1111"], token: token)
                expectImmich(wrong, 400, "WRONG_PIN", "Wrong PIN code", path)
                let right = try await app.call(.POST, path, ["pinCode": "1234"], token: token)
                #expect(right.status == 204, "\(right.text)")
                let open = try await app.call(.GET, "/auth/status", token: token)
                #expect(open["isElevated"] == true && open["pinExpiresAt"].string != nil)
                let locked = try await app.call(.POST, "/auth/session/lock", token: token)
                #expect(locked.status == 204)
                let closed = try await app.call(.GET, "/auth/status", token: token)
                #expect(closed["isElevated"] == false)
            }
            let changed = try await app.call(
                .PUT, "/auth/pin-code", ["pinCode": "1234", "newPinCode": "4321"], token: token)
            #expect(changed.status == 204, "\(changed.text)")
            let denied = try await app.call(
                .DELETE, "/auth/pin-code", ["password": "not the password"], token: token)
            expectImmich(denied, 400, "INVALID_CREDENTIALS", "Wrong password")
            for _ in 1...5 {
                _ = try await app.call(.POST, "/auth/pin-code/verify", ["pinCode": "1111"], token: token)
            }
            let held = try await app.call(.POST, "/auth/pin-code/verify", ["pinCode": "4321"], token: token)
            expectImmich(held, 429, "IDENTITY_TEMPORARILY_LOCKED", "Too many tries. Please wait a moment.")
            let removed = try await app.call(
                .DELETE, "/auth/pin-code", ["password": .string(APIClient.password)], token: token)
            #expect(removed.status == 204, "\(removed.text)")
        }
    }

    @Test func `where the dialect is off, its paths are unknown ones`() async throws {
        try await TestServer.with { server in
            let app = ImmichApp(api: APIClient(server))
            for method: HTTPMethod in [.GET, .POST, .PUT, .DELETE, .PATCH] {
                for path in ["/auth/login", "/users/me", "/server/ping", "/oauth/authorize", "/auth/pin-code"] {
                    let answer = try await app.call(method, path, method == .GET ? nil : [:])
                    expectError(answer, 404, "NOT_FOUND", "\(method) \(path)")
                }
            }
            let document = try await app.api.send(.GET, "/openapi/immich.json")
            expectError(document, 404, "NOT_FOUND")
        }
        try await ImmichApp.with { _, app in
            let unknown = try await app.call(.GET, "/auth/nothing")
            expectImmich(unknown, 404, "NOT_FOUND", "There is nothing at this path")
            let document = try await app.api.send(.GET, "/openapi/immich.json")
            #expect(document["paths"].keys.contains("/api/auth/login"), "\(document.text.prefix(200))")
            let own = try await app.api.send(.GET, "/openapi.json")
            #expect(!own["paths"].keys.contains("/api/auth/login"))
        }
    }

    @Test func `the document says where a token and the device may be`() async throws {
        try await ImmichApp.with { _, app in
            let document = try await app.api.send(.GET, "/openapi/immich.json")
            let help: JSONValue = "The token of a session."
            let schemes = document["components"]["securitySchemes"]
            #expect(schemes["bearer"] == ["type": "http", "scheme": "bearer", "description": help])
            for field in ["x-immich-user-token", "x-immich-session-token"] {
                let expected: JSONValue = [
                    "type": "apiKey", "in": "header", "name": .string(field), "description": help,
                ]
                #expect(schemes[field] == expected)
            }
            #expect(schemes.keys.count == 3)
            let paths = document["paths"]
            let security: JSONValue = [
                ["bearer": []], ["x-immich-user-token": []], ["x-immich-session-token": []],
            ]
            #expect(paths["/api/users/me"]["get"]["security"] == security)
            #expect(paths["/api/auth/login"]["post"]["security"] == [])
            for path in ["/api/auth/login", "/api/oauth/callback"] {
                let parameters = paths[path]["post"]["parameters"].array ?? []
                #expect(parameters.map { $0["name"].string } == ["deviceModel", "deviceType"], "\(path)")
                #expect(parameters.allSatisfy { $0["in"] == "header" && $0["required"] == false }, "\(path)")
            }
            let own = try await app.api.send(.GET, "/openapi.json")["components"]["securitySchemes"]
            #expect(own.keys == ["bearer"] && own["bearer"]["bearerFormat"] == "JWT")
        }
    }
}
