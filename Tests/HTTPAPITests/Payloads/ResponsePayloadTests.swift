import Foundation
import ProviderKit
import Testing

@testable import Accounts
@testable import HTTPAPI

struct ResponsePayloadTests {
    private static let odd = "\u{0}\u{1f}\"\\/é\u{2028}🔑\n\t"

    private func user(_ text: String?, metadata: JSONValue) -> User {
        User(
            uid: .v7(), email: text, phone: text, displayName: text, isAnonymous: text == nil,
            providers: text.map { ["email", $0] } ?? [], metadata: metadata,
            createdAt: Date(timeIntervalSince1970: 1_800_000_000.125), updatedAt: .distantPast)
    }

    private func response(_ text: String?, exposed: [String: JSONValue]) -> SignedIn {
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
        return SignedIn(session: session, tokens: tokens)
    }

    /// Expects that every member of a response is documented and that every required member is present.
    private func expectDocumented(
        _ payload: some ResponsePayload, except further: Set<String> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONValue {
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(payload.json))
        let members = Set(json.members.keys).subtracting(further)
        let schema = type(of: payload).schema
        #expect(members.subtracting(schema.properties.keys) == [], sourceLocation: sourceLocation)
        #expect(schema.required.subtracting(members) == [], sourceLocation: sourceLocation)
        return json
    }

    @Test func `responses are what their fields declare`() throws {
        let exposed: [String: JSONValue] = [
            "team": ["a", 1, .number(1.5), .null, true, ["b": "c/d"]], "uid": "not this one",
            Self.odd: .string(Self.odd),
        ]
        for text in [nil, "ada@example.com", Self.odd] {
            for more in [[:], exposed] {
                let user = user(text, metadata: .object(more))
                let json = try expectDocumented(user)
                #expect(json["id"] == .string(user.uid.text))
                #expect(json["email"] == text.map { .string($0) } ?? .null)
                #expect(json["metadata"] == .object(more))
                #expect(json["createdAt"] == "2027-01-15T08:00:00Z")
                let session = try expectDocumented(response(text, exposed: more))
                #expect(session["tokenType"] == "Bearer")
                #expect(session.members["shouldChangePassword"] == (text == nil ? nil : true))
                let auth = session["auth"]?.members ?? [:]
                #expect(auth["team"] == more["team"] && auth[Self.odd] == more[Self.odd])
                #expect(auth["uid"] == session["user", "id"])
                #expect(auth["email"] == text.map { .string($0) })
            }
        }
        let tokens = TokenPair(accessToken: Self.odd, refreshToken: "r", issuedAt: -1, expiresAt: 3600, exposed: [:])
        #expect(try expectDocumented(tokens)["expiresIn"] == 3601)
    }

    private struct Sample: ResponsePayload {
        var text: String?

        static let fields = ResponseFields<Self>("Sample") {
            Field("first") { _ in 1 }
            Field("orNull", orNull: \.text)
            Field("ifAny", as: .enumeration(["a", "b"]), ifAny: \.text)
            Field("list") { _ in [true, false] }
        }
    }

    @Test func `fields are written in order, as null or not at all without a value`() {
        #expect(String(decoding: Sample().json, as: UTF8.self) == #"{"first":1,"orNull":null,"list":[true,false]}"#)
        #expect(
            String(decoding: Sample(text: "a").json, as: UTF8.self)
                == #"{"first":1,"orNull":"a","ifAny":"a","list":[true,false]}"#)
    }

    @Test func `the schema states what may be absent or null`() {
        let schema = Sample.schema
        #expect(schema.name == "Sample")
        #expect(schema.required == ["first", "orNull", "list"])
        #expect(schema.properties["orNull"] == JSONSchema(.string, .null))
        #expect(schema.properties["ifAny"] == .enumeration(["a", "b"]))
        #expect(schema.properties["list"] == .array(of: JSONSchema(.boolean)))
    }
}
