import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What the audit says about calls of Immich's apps.
struct ImmichAuditTests {
    @Test func `the events of PINs, sessions and refused proofs have the name of the dialect`() async throws {
        try await ImmichApp.with { server, app in
            let person = try await app.api.register(at: server)
            let all = try await server.audited {
                let token = try #require(try await app.login(person.email)["accessToken"].string)
                let path = "/auth/pin-code"
                let calls: [(method: HTTPMethod, path: String, body: JSONValue, status: Int)] = [
                    (.PUT, path, ["pinCode": "1234"], 204),
                    (.POST, path + "/verify", ["pinCode": "1111"], 400),
                    (.POST, path + "/verify", ["pinCode": "1234"], 204),
                    (.PUT, path, ["pinCode": "1234", "newPinCode": "4321"], 204),
                    (.DELETE, path, ["pinCode": "4321"], 204),
                ]
                for call in calls {
                    let answer = try await app.call(call.method, call.path, call.body, token: token)
                    #expect(answer.status == call.status, "\(call): \(answer.text)")
                }
                let wrong = try await app.login(person.email, "not the password")
                #expect(wrong.status == 401)
                try await server.letPass(.seconds(600))
                let late = try await app.call(
                    .PUT, "/auth/change-password", ["password": .string(APIClient.otherPassword)], token: token)
                expectImmich(late, 403, "TOKEN_TOO_OLD", "Sign in again to do this.")
                #expect(try await app.call(.POST, "/auth/logout", token: token).status == 200)
            }
            #expect(
                all.map(\.event).sorted() == [
                    "pin.changed", "pin.removed", "pin.set", "pin.wrong", "session.elevated", "session.ended",
                    "session.opened", "sign-in.refused", "sign-in.refused",
                ], "\(all)")
            #expect(all.allSatisfy { $0.details["dialect"] == "immich" }, "\(all)")
        }
    }
}
