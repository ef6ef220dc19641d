import Foundation
import GatehouseClient
import Testing

@testable import GatehouseServer

/// The three calls of Webcom's iOS library, as its documentation prints them.
struct WebcomTests {
    private func signIn(
        _ webcom: WCWebcom, _ mail: String, _ password: String, remember: Bool = true
    ) async -> (error: NSError?, auth: WCAuth?) {
        await withCheckedContinuation { done in
            webcom.auth(withMail: mail, andPassword: password, andRememberMe: remember) { error, auth in
                done.resume(returning: (error, auth))
            }
        }
    }

    private func logout(_ webcom: WCWebcom) async -> NSError? {
        await withCheckedContinuation { done in webcom.logout { done.resume(returning: $0) } }
    }

    @Test func `a person signs in and out`() async throws {
        try await TestServer.with { server in
            let person = try await APIClient(server).register(at: server)
            let app = try SwiftApp(server)
            let webcom = WCWebcom(client: app.client)
            let wrong = await signIn(webcom, person.email, "wrong")
            #expect(wrong.error?.webcomCode == "INVALID_CREDENTIALS" && wrong.auth == nil)
            #expect(wrong.error?.localizedDescription == "The e-mail address or the password is wrong")
            let old = await signIn(WCWebcom(client: app.client, usesLegacyCodes: true), person.email, "wrong")
            #expect(old.error?.webcomCode == "INVALID_PASSWORD")

            let signedIn = await signIn(webcom, person.email, person.password)
            let auth = try #require(signedIn.auth)
            #expect(signedIn.error == nil && auth.uid == person.uid && auth.email == person.email)
            #expect(auth.provider == "email" && auth.expires > auth.createdAt)
            let token = auth.authToken
            let current = try await app.client.accessToken()
            #expect(token == current.value)
            let renewed = try await app.client.accessToken(insteadOf: current)
            #expect(auth.authToken == renewed.value && auth.authToken != token)

            app.transport.always("/auth/logout", .lostRequest)
            let failure = await logout(webcom)
            #expect(failure == nil && auth.authToken == "" && app.storage.isEmpty)
        }
    }

    /// Without `rememberMe`, so that the test stores nothing in the home of the person who runs it.
    @Test func `all references to an application share its session`() async throws {
        try await TestServer.with { server in
            let person = try await APIClient(server).register(at: server)
            let url = server.url + "/base/demo"
            let signedIn = await signIn(
                try #require(WCWebcom(url: url)), person.email, person.password, remember: false)
            #expect(signedIn.auth?.uid == person.uid)
            let other = try #require(WCWebcom(url: url))
            let session = try await other.client.session
            #expect(session?.uid == person.uid)
            let failure = await logout(other)
            #expect(failure == nil && signedIn.auth?.authToken == "")
            #expect(try await server.liveSessions(of: person.uid) == 1, "that of the registration")
        }
    }

    @Test(arguments: ["file://io./base/app", "https://h.example/app", "https://h.example/base/", "base/app", ""])
    func `a URL of another form is none`(url: String) {
        #expect(WCWebcom(url: url) == nil)
    }
}
