import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A session bearer is refused as soon as its session has ended, whatever has ended it.
struct BearerEndTests {
    enum End: String, Sendable, CaseIterable {
        case byID, otherDevices, everywhere, passwordReset, merge
    }

    @Test(arguments: End.allCases)
    func `a bearer ends with its session`(end: End) async throws {
        try await ImmichApp.with { server, app in
            let api = app.api
            let (person, _) = try await api.victim(at: server, of: "ada")
            let login = try await app.login(person.email)
            let bearer = try #require(login["accessToken"].string, "\(login.text)")
            let before = try await statuses(of: bearer, at: app)
            #expect(before == [200, 200])
            switch end {
            case .byID:
                let list = try await api.get("/auth/sessions", bearer: bearer)
                let current = list["sessions"].array?.first { $0["current"] == true }
                let id = try #require(current?["id"].string, "\(list.text)")
                let ended = try await api.delete("/auth/sessions/\(id)", bearer: person.accessToken)
                #expect(ended.status == 204, "\(ended.text)")
            case .otherDevices, .everywhere:
                let scope: JSONValue = end == .everywhere ? "global" : "others"
                let ended = try await api.post("/auth/logout", ["scope": scope], bearer: person.accessToken)
                #expect(ended.status == 204, "\(ended.text)")
            case .passwordReset:
                let reset = try await api.resetPassword(of: person.email, at: server)
                #expect(reset.status == 204, "\(reset.text)")
            case .merge:
                let eve = try await api.newcomer("eve")
                let ticket = try await api.ticket(.somebody("ada"), bearer: eve.accessToken)
                let merged = try await api.merge(ticket, bearer: eve.accessToken, survivor: "current")
                #expect(merged.status == 200 && merged["user"]["id"].string == eve.uid, "\(merged.text)")
            }
            let after = try await statuses(of: bearer, at: app)
            #expect(after == [401, 401])
            expectImmich(
                try await app.call(.GET, "/users/me", token: bearer), 401, "INVALID_TOKEN", "Invalid user token")
        }
    }

    @Test func `a bearer ends the account's other sessions, and stays`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let bearers = try await [login(person, app), login(person, app)]
            let ended = try await app.api.post("/auth/logout", ["scope": "others"], bearer: bearers[0])
            #expect(ended.status == 204, "\(ended.text)")
            let (own, other) = (
                try await statuses(of: bearers[0], at: app), try await statuses(of: bearers[1], at: app)
            )
            #expect(own == [200, 200] && other == [401, 401])
            expectError(try await app.api.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
        }
    }

    private func login(_ person: Person, _ app: ImmichApp) async throws -> String {
        let answer = try await app.login(person.email)
        return try #require(answer["accessToken"].string, "\(answer.text)")
    }

    /// The statuses of a call of the dialect and of version 1 with the bearer.
    private func statuses(of bearer: String, at app: ImmichApp) async throws -> [Int] {
        [
            try await app.call(.GET, "/users/me", token: bearer).status,
            try await app.api.get("/auth/me", bearer: bearer).status,
        ].map { Int($0) }
    }
}
