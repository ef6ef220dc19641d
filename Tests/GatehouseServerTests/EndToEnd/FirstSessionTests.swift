import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Creating a session, from HTTP to PostgreSQL and back.
@Suite struct FirstSessionTests {
    @Test func aGuestSignsInRefreshesAndLeaves() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let session = try await client.post("/auth/anonymous")
            #expect(session.status == 200)
            #expect(session["isNewAccount"] == true)
            #expect(session["user"]["isAnonymous"] == true)
            #expect(session["auth"]["provider"] == "anonymous")
            let guest = try Person(session, email: "", password: "")

            let refreshed = try await client.refresh(guest.refreshToken)
            #expect(refreshed.status == 200)
            let bearer = try #require(refreshed["accessToken"].string)
            #expect(try await client.get("/auth/me", bearer: bearer)["id"].string == guest.uid)

            let deleted = try await client.delete("/auth/account", bearer: bearer)
            #expect(deleted.status == 204)
            #expect(try await client.get("/auth/me", bearer: bearer).code == "INVALID_TOKEN")
            let location = try #require(deleted.headers.first(name: "location"))
            #expect(try await client.send(.GET, location)["status"] == "scheduled")
        }
    }

    @Test func aPersonRegistersVerifiesAndLogsIn() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let login = try await client.login(person.email)
            #expect(login.status == 200, "\(login.text)")
            #expect(login["user"]["id"].string == person.uid)
            #expect(login["user"]["email"].string == person.email)
            #expect(login["user"]["emailVerified"] == true)
            #expect(login["isNewAccount"] == false)
            #expect(try await client.login(person.email, "wrong").code == "INVALID_CREDENTIALS")
        }
    }
}
