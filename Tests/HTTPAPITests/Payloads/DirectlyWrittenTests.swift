import Foundation
import ProviderKit
import Testing

@testable import Accounts
@testable import HTTPAPI

/// Hand-written JSON equals that of the declared type.
struct DirectlyWrittenTests {
    private static let odd = "\u{0}\u{1f}\"\\/é\u{2028}🔑\n\t"

    private func user(_ text: String?, metadata: JSONValue) -> User {
        User(
            uid: .v7(), email: text, phone: text, displayName: text, isAnonymous: text == nil,
            providers: text.map { ["email", $0] } ?? [], metadata: metadata,
            createdAt: Date(timeIntervalSince1970: 1_800_000_000.125), updatedAt: .distantPast)
    }

    private func answer(_ text: String?, exposed: [String: JSONValue]) -> SessionResponse {
        let user = user(text, metadata: .object(exposed))
        let grant = SessionGrant(
            sessionID: .v7(), uid: user.uid, authenticatedAt: Date(), expiresAt: .distantFuture, methods: ["pwd"],
            provider: "email",
            providerUid: text ?? "x", email: text, phone: text, profile: exposed)
        let session = OpenedSession(
            grant: grant, user: user, identityID: .v7(), identityCreatedAt: Date(), identityDisplayName: text,
            isNewAccount: text == nil, shouldChangePassword: text != nil)
        let tokens = TokenPair(
            accessToken: "a.b.c", refreshToken: "r", issuedAt: 0, expiresAt: 3600, exposed: exposed)
        return SessionResponse(SignedIn(session: session, tokens: tokens))
    }

    private func expectSame(_ value: some Encodable, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let direct = try #require(value as? any DirectlyWritten, sourceLocation: sourceLocation)
        var object = JSONObjectWriter()
        direct.write(to: &object)
        let written = try JSONDecoder().decode(JSONValue.self, from: Data(object.object))
        let encoded = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        #expect(written == encoded, sourceLocation: sourceLocation)
    }

    @Test func `hand-written JSON equals the encoder's`() throws {
        let exposed: [String: JSONValue] = [
            "team": ["a", 1, .number(1.5), .null, true, ["b": "c/d"]], "uid": "not this one",
            Self.odd: .string(Self.odd),
        ]
        for text in [nil, "ada@example.com", Self.odd] {
            for more in [[:], exposed] {
                try expectSame(UserPayload(user(text, metadata: .object(more))))
                try expectSame(answer(text, exposed: more))
            }
        }
        try expectSame(
            TokenResponse(
                TokenPair(accessToken: Self.odd, refreshToken: "r", issuedAt: -1, expiresAt: 3600, exposed: [:])))
    }
}
