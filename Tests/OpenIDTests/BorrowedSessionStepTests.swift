import Foundation
import Testing

@testable import OpenID

/// What a request asks next if an app or another device has signed in an account of the browser.
struct BorrowedSessionStepTests {
    private func situation(_ sessions: [BrowserSession]) -> RequestSituation {
        let request = ClientRequest(
            clientID: "web", returnAddress: ReturnAddress(redirectURI: "https://web.example/cb"), scopes: ["openid"])
        var client = OAuthClient(id: "web", names: ["": "Web"])
        client.isFirstParty = true
        var situation = RequestSituation(request: request, client: client)
        situation.sessions = sessions
        return situation
    }

    private func session(ofApp isOfApp: Bool = false) -> BrowserSession {
        var session = BrowserSession(id: UUID(), uid: UUID(), age: 1)
        (session.isOfApp, session.isBorrowed) = (isOfApp, isOfApp)
        return session
    }

    @Test func `the only account goes on without a question`() {
        let own = session(ofApp: true)
        #expect(nextStep(for: situation([own])) == .finish(own))
    }

    @Test func `no hint selects an account that an app has signed in beside another`() {
        for isRequired in [true, false] {
            var (own, other) = (session(ofApp: true), session())
            (own.isRequired, own.isPreferred) = (isRequired, true)
            var asked = situation([other, own])
            asked.request.subject = isRequired ? "somebody" : nil
            #expect(nextStep(for: asked) == .ask(.accounts))
            asked.request.prompts = [.none]
            #expect(nextStep(for: asked) == .refuse(.accountSelectionRequired))
            (own.isOfApp, other.isOfApp) = (false, true)
            asked.sessions = [other, own]
            #expect(nextStep(for: asked) == .finish(own))
        }
    }

    @Test func `max_age accepts when an app authenticated the person, and never the answer to a QR code`() {
        for (isOfApp, isBorrowed, needsProof) in [(false, false, false), (true, true, false), (false, true, true)] {
            var own = session()
            (own.isOfApp, own.isBorrowed) = (isOfApp, isBorrowed)
            var asked = situation([own])
            #expect(nextStep(for: asked) == .finish(own))
            asked.request.maxAge = 3600
            #expect(nextStep(for: asked) == (needsProof ? .ask(.reauthenticate) : .finish(own)))
            asked.progress.proven = own.id
            #expect(nextStep(for: asked) == .finish(own))
            asked.progress.proven = nil
            asked.request.prompts = [.none]
            #expect(nextStep(for: asked) == (needsProof ? .refuse(.loginRequired) : .finish(own)))
        }
    }

    @Test func `a new password needs a proof, however new the session is`() {
        var own = session(ofApp: true)
        own.needsNewPassword = true
        #expect(nextStep(for: situation([own])) == .ask(.reauthenticate))
        own.isBorrowed = false
        #expect(nextStep(for: situation([own])) == .ask(.newPassword))
    }
}
