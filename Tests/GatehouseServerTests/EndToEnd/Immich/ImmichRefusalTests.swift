import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The refusals that an app of Immich shows, in its own words.
struct ImmichRefusalTests {
    @Test func `wrong and unknown addresses get the same bytes`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let id: HTTPHeaders = ["x-request-id": "same"]
            let wrong = try await app.login(person.email, "not the password", headers: id)
            let unknown = try await app.login(APIClient.newAddress(), "not the password", headers: id)
            expectImmich(wrong, 401, "INVALID_CREDENTIALS", "Incorrect email or password")
            #expect(wrong.body == unknown.body)
            let pending = APIClient.newAddress()
            _ = try await app.api.pend(at: server, pending)
            let unverified = try await app.login(pending)
            let message = "Confirm your address first: a mail is on its way."
            expectImmich(unverified, 403, "UNVERIFIED_IDENTITY", message)
        }
    }

    @Test func `malformed requests keep the words of version 1`() async throws {
        try await ImmichApp.with { _, app in
            let empty = try await app.call(.POST, "/auth/login", [:])
            expectImmich(empty, 400, "MISSING_EMAIL_OR_PASSWORD", "email and password are both needed")
            let text = try await app.api.send(
                .POST, "/api/auth/login", raw: Array("{}".utf8), headers: ["content-type": "text/plain"])
            expectImmich(text, 415, "UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json")
            let method = try await app.call(.PATCH, "/auth/login", [:])
            expectImmich(method, 405, "METHOD_NOT_ALLOWED", "This path answers POST")
            #expect(method.headers.first(name: "allow") == "POST")
            let origin = try await app.call(
                .POST, "/auth/login", [:], headers: ["origin": "https://evil.example"])
            #expect(origin.status == 403 && origin["code"] == "UNAUTHORIZED_REQUEST_ORIGIN")
        }
    }

    @Test func `a weak password is refused with the first reason`() async throws {
        try await ImmichApp.with { server, app in
            let token = try await app.token(at: server)
            let weak = try await app.call(.PUT, "/auth/change-password", ["password": "short"], token: token)
            expectImmich(weak, 400, "TOO_WEAK_PASSWORD", "The password is too weak: tooShort")
        }
    }

    @Test(arguments: ["", String(repeating: "n", count: 257)])
    func `a refused name leaves the password unchanged`(name: String) async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let token = try #require(try await app.login(person.email)["accessToken"].string)
            let changes: JSONValue = ["name": .string(name), "password": .string(APIClient.otherPassword)]
            let refused = try await app.call(.PUT, "/users/me", changes, token: token)
            expectImmich(refused, 400, "INVALID_PARAMETER", "name is empty or longer than 256 characters")
            let login = try await app.login(person.email)
            #expect(login.status == 201, "\(login.text)")
        }
    }

    @Test func `the limit of logins is one for both doors`() async throws {
        try await ImmichApp.with(rateLimits: "{ login: 5/min }") { _, app in
            for _ in 1...3 { _ = try await app.login("nobody@example.com", "not the password") }
            for _ in 1...2 { _ = try await app.api.login("nobody@example.com", "not the password") }
            let limited = try await app.login("nobody@example.com", "not the password")
            expectImmich(limited, 429, "RATE_LIMITED", "Too many tries. Please wait a moment.")
            let other = try await app.api.login("nobody@example.com", "not the password")
            expectError(other, 429, "RATE_LIMITED")
        }
    }

    @Test func `a second proof is required in the words of version 1, without its ticket`() async throws {
        try await ImmichApp.with { server, app in
            let (person, _) = try await app.api.victim(at: server, of: "ada")
            let reset = try await app.api.resetPassword(of: person.email, at: server)
            #expect(reset.status == 204, "\(reset.text)")
            let known = try await app.api.present(.somebody("ada"))
            try expectQuarantined(known)
            let refused = try await app.callback(app.arrive("ada"))
            expectImmich(refused, 403, "SECOND_PROOF_REQUIRED", known.message)
        }
    }

    @Test func `a newcomer reads that the provider opens no accounts`() async throws {
        try await ImmichApp.with(providers: "scripted: { displayName: Company, mode: existing }") { _, app in
            let refused = try await app.callback(app.arrive("ada"))
            expectImmich(refused, 403, "PROVIDER_DISABLED", "This provider opens no new accounts")
        }
    }

    @Test func `without a password there is none to change, and the button is named`() async throws {
        try await ImmichApp.with { _, app in
            let login = try await app.callback(app.arrive("ada"))
            let token = try #require(login["accessToken"].string, "\(login.text)")
            let words = "This account has no password. Sign in with “Login with Company”."
            let (new, current): (JSONValue, JSONValue) = (.string(APIClient.otherPassword), .string(APIClient.password))
            let calls: [(HTTPMethod, String, JSONValue)] = [
                (.PUT, "/users/me", ["password": new]), (.PUT, "/auth/change-password", ["password": new]),
                (.POST, "/auth/change-password", ["password": current, "newPassword": new]),
            ]
            for (method, path, body) in calls {
                let refused = try await app.call(method, path, body, token: token)
                expectImmich(refused, 404, "IDENTITY_NOT_FOUND", words, path)
            }
        }
    }

    @Test func `a disabled account is refused with its reason`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            try await server.setDisabled(true, person)
            let answer = try await app.login(person.email)
            #expect(answer.status == 403 && answer["code"] == "ACCOUNT_DISABLED", "\(answer.text)")
            #expect(answer.json.keys == ["message", "error", "statusCode", "correlationId", "code"])
        }
    }
}
