import Foundation
import GatehouseClient
import ProviderKit
import Testing

@testable import GatehouseServer

/// The Swift client library links, unlinks and merges.
struct SwiftLinkingTests {
    @Test func `a guest becomes permanent and keeps the session`() async throws {
        try await TestServer.linking { server, api in
            let app = try SwiftApp(server)
            let guest = try await app.client.signIn(.anonymous).session
            let eve = try await api.newcomer("eve")
            let refused = await #expect(throws: GatehouseError.self) {
                try await app.client.link(.scripted(.somebody("eve")))
            }
            #expect(refused?.code == .identityInUse && refused?.rule != nil && refused?.remedies.isEmpty == false)
            let linked = try await app.client.link(.scripted(.somebody("ada")))
            guard case .linked(let signedIn) = linked else {
                Issue.record("\(linked)")
                return
            }
            #expect(signedIn.session.uid == guest.uid && !signedIn.session.user.isAnonymous)
            try await app.changes.wait(for: "updated")
            let open = try await app.client.sessions()
            #expect(open.count == 1)

            let other = try SwiftApp(server)
            try await other.client.signIn(.anonymous)
            try await other.client.link(.scripted(.somebody("eve")), onConflict: .switch)
            let switched = try await other.client.session
            #expect(switched?.uid == eve.uid)
        }
    }

    @Test func `a merge is planned, done and undone`() async throws {
        try await TestServer.linking { server, api in
            let app = try SwiftApp(server)
            let ada = try await app.client.signIn(.scripted(.somebody("ada"))).session
            let eve = try await api.newcomer("eve")
            let refused = await #expect(throws: GatehouseError.self) {
                try await app.client.link(.scripted(.somebody("eve")))
            }
            let ticket = try #require(refused?.refusal?.mergeToken)
            let plan = try await app.client.planMerge(ticket)
            #expect(plan.survivor == ada.uid && plan.absorbed == eve.uid)
            #expect(plan.moves.identities.map(\.providerUid) == ["eve"])
            let other = try await app.client.planMerge(ticket, survivor: .other)
            #expect(other.survivor == eve.uid)
            let merge = try await app.client.merge(ticket)
            #expect(merge.survivor == ada.uid && merge.absorbed == eve.uid)
            let session = try await app.client.session
            #expect(session?.uid == ada.uid)
            let merges = try await app.client.merges()
            #expect(merges.map(\.id) == [merge.id])
            try await app.client.undoMerge(merge.id)
            let again = try await api.present(.somebody("eve"))
            #expect(again["user"]["id"].string == eve.uid)
        }
    }

    @Test func `a sensitive call works again after re-authentication`() async throws {
        try await TestServer.linking { server, api in
            let app = try SwiftApp(server)
            let ada = try await app.client.signIn(.scripted(.somebody("ada"))).session
            try await server.letPass(.seconds(1000))
            // A new access token states when the session was authenticated.
            _ = try await app.client.accessToken(insteadOf: try await app.client.accessToken())
            let address = APIClient.newAddress()
            let old = await #expect(throws: GatehouseError.self) {
                try await app.client.link(.password(email: address, password: APIClient.password))
            }
            #expect(old?.code == .tokenTooOld)
            let stranger = await #expect(throws: GatehouseError.self) {
                try await app.client.reauthenticate(.scripted(.somebody("eve")))
            }
            #expect(stranger?.code == .invalidCredentials)
            var evidence = VerifiedIdentity.somebody("ada")
            evidence.authenticatedAt = Date()
            try await app.client.reauthenticate(.scripted(evidence))
            let linked = try await app.client.link(.password(email: address, password: APIClient.password))
            guard case .mailed(let email) = linked else {
                Issue.record("\(linked)")
                return
            }
            #expect(email == address)
            let token = try await api.mailedToken(to: address, at: server)
            let joined = try await app.client.verifyEmail(token: token, linking: true)
            #expect(joined.session.uid == ada.uid && joined.session.user.email == address)
        }
    }

    @Test func `an identity changes its address, and goes`() async throws {
        try await TestServer.linking { server, api in
            let app = try SwiftApp(server)
            let person = try await api.register(at: server)
            try await app.client.signIn(.password(email: person.email, password: person.password))
            let sent = try await app.client.sendCode(toPhone: "+4915112345678", for: .link)
            let text = try await api.sentCode(to: "+4915112345678", at: server)
            try await app.client.link(.code(text, of: sent))
            let identities = try await app.client.identities()
            let email = try #require(identities.first { $0.provider == "email" })
            let address = APIClient.newAddress()
            let change = try await app.client.changeEmail(of: email.id, to: address)
            let code = try await api.sentCode(to: address, at: server)
            let changed = try await app.client.confirm(change, code: code)
            #expect(changed.id == email.id && changed.email == address)
            // The session is one of the phone number since the link.
            let gone = try await app.client.unlink(email.id)
            guard case .unlinked = gone else {
                Issue.record("\(gone)")
                return
            }
            let last = try await app.client.unlinkCurrent()
            guard case .accountDeleted(let receipt?) = last else {
                Issue.record("\(last)")
                return
            }
            try await app.changes.wait(for: "accountDeleted")
            let erasure = try await app.client.erasure(receipt)
            #expect(erasure.status == "scheduled" && erasure.erasedAt == nil && app.storage.isEmpty)
        }
    }
}
