import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// The server assigns each request to an application, and data of one application is not visible in another.
struct ApplicationsTests {
    @Test func `path prefix, host and default find the application, in this order`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let client = APIClient(server)
            func audience(_ path: String, host: String?) async throws -> String? {
                let headers: HTTPHeaders = host.map { ["host": $0] } ?? [:]
                let answer = try await client.send(.POST, path + "/api/v1/auth/anonymous", headers: headers)
                return try DecodedToken(try #require(answer["accessToken"].string, "\(answer.text)")).claims["aud"]
                    .string
            }
            let cases: [(String, String?, String)] = [
                ("", nil, "demo"), ("", "unknown.example", "demo"), ("", "photos.example", "photos-app"),
                ("", "PHOTOS.example:8443", "photos-app"), ("", "photos.example.", "demo"),
                ("/apps/demo", "photos.example", "demo"), ("/apps/photos", nil, "photos-app"),
                ("/apps/photos", "unknown.example", "photos-app"), ("", "x.photos.example", "demo"),
            ]
            for (path, host, expected) in cases {
                let found = try await audience(path, host: host)
                #expect(found == expected, "\(path) \(host ?? "-")")
            }
        }
    }

    @Test func `an application that is not there is 404 on every path`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for path in [
                "/apps/none/api/v1/auth/me", "/apps/none", "/apps/", "/apps//api/v1/auth/me", "/apps/DEMO/health/live",
                "/apps/none/openapi.json", "/apps/%64emo/health/live", "/apps/demo%00/health/live",
                "/apps/../health/live",
            ] {
                expectError(try await client.send(.GET, path), 404, "UNKNOWN_APPLICATION", path)
            }
        }
    }

    @Test func `tokens of one application are refused by another`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let (demo, photos) = (APIClient(server), APIClient(server, application: "photos"))
            let person = try await demo.register(at: server)
            expectError(try await photos.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
            expectError(try await photos.refresh(person.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            expectError(try await photos.login(person.email), 401, "INVALID_CREDENTIALS")
            let reset = try await demo.forget(at: server, person.email)
            expectError(try await photos.reset(reset, to: APIClient.otherPassword), 401, "INVALID_TOKEN")
            let pending = try await demo.pend(at: server, APIClient.newAddress())
            expectError(try await photos.verify(pending), 401, "INVALID_TOKEN")
            #expect(try await demo.verify(pending).status == 200)
            let deleted = try await demo.delete("/auth/account", bearer: person.accessToken)
            let location = try #require(deleted.headers.first(name: "location"))
            expectError(try await photos.send(.GET, location), 404, "NOT_FOUND")
            let restore = try #require(
                try await demo.login(person.email)["error"]["details"]["restoreToken"].string)
            let body: JSONValue = ["restoreToken": .string(restore)]
            expectError(try await photos.post("/auth/account/restore", body), 401, "INVALID_TOKEN")
            #expect(try await demo.post("/auth/account/restore", body).status == 200)
        }
    }

    @Test func `one address has an account in each application`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let (demo, photos) = (APIClient(server), APIClient(server, application: "photos"))
            let first = try await demo.register(at: server)
            let known = try await demo.mailedToken(to: first.email, at: server)
            let token = try await photos.pend(
                at: server, first.email, password: APIClient.otherPassword, other: [known])
            let mail = try #require(server.inbox.messages().first { $0.text.contains(token) })
            #expect(
                mail.text.contains("https://photos.example/verify?from=mail&token=") && mail.application == "photos")
            let second = try Person(try await photos.verify(token), email: first.email, password: "")
            #expect(first.uid != second.uid)
            #expect(try await demo.login(first.email).status == 200)
            expectError(try await demo.login(first.email, APIClient.otherPassword), 401, "INVALID_CREDENTIALS")
            #expect(try await photos.login(first.email, APIClient.otherPassword).status == 200)
            _ = try await demo.delete("/auth/account", bearer: first.accessToken)
            #expect(try await photos.get("/auth/me", bearer: second.accessToken).status == 200)
        }
    }

    @Test func `each application has its own issuer, audience and keys`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let (demo, photos) = (APIClient(server), APIClient(server, application: "photos"))
            let tokens = [
                try DecodedToken(try await demo.guest().accessToken),
                try DecodedToken(try await photos.guest().accessToken),
            ]
            #expect(tokens[0].claims["iss"] == "http://127.0.0.1:1")
            #expect(tokens[1].claims["iss"] == "http://127.0.0.1:1/apps/photos")
            let documents = [
                try await demo.send(.GET, "/.well-known/jwks.json"),
                try await photos.send(.GET, "/.well-known/jwks.json"),
            ]
            for (index, token) in tokens.enumerated() {
                let kid = try #require(token.header["kid"].string)
                let kids = documents.map { $0["keys"].array?.compactMap { $0["kid"].string } ?? [] }
                #expect(kids[index].contains(kid) && !kids[1 - index].contains(kid))
            }
        }
    }

    @Test func `a deletion's location keeps the prefix that the client used`() async throws {
        try await TestServer.with(others: TestServer.photos) { server in
            let photos = APIClient(server, application: "photos")
            let guest = try await photos.guest()
            let deleted = try await photos.delete("/auth/account", bearer: guest.accessToken)
            let location = try #require(deleted.headers.first(name: "location"))
            #expect(location.hasPrefix("/apps/photos/api/v1/erasures/"))
            #expect(try await APIClient(server).send(.GET, location).status == 200)
        }
    }
}
