import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

/// Tests how issuer, settings and claims determine whether an address is verified.
struct EvidenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var issuer = World.issuer
        var trustEmail: Bool?
        var map: [String: String?] = [:]
        var claims: [String: JSONValue] = [:]
        let email: String?

        var testDescription: String { name }
    }

    private static let google = "https://accounts.google.com"
    private static let microsoft = "https://login.microsoftonline.com/t-1/v2.0"

    private static let cases = [
        Case(name: "verified, not trusted", email: "jo@example.com verified"),
        Case(name: "verified and trusted", trustEmail: true, email: "jo@example.com verified authoritative"),
        Case(name: "unverified", trustEmail: true, claims: ["email_verified": false], email: "jo@example.com"),
        Case(name: "without a word", trustEmail: true, claims: ["email_verified": nil], email: "jo@example.com"),
        Case(name: "a text", trustEmail: true, claims: ["email_verified": "true"], email: "jo@example.com"),
        Case(name: "a number", trustEmail: true, claims: ["email_verified": 1], email: "jo@example.com"),
        Case(
            name: "not as written", trustEmail: true, claims: ["email": "jo@\u{ff45}xample.com"],
            email: "jo@example.com"),
        Case(
            name: "Google: not as written", issuer: google, claims: ["email": "jo@gmail\u{3002}com"],
            email: "jo@gmail.com"
        ),
        Case(name: "no address", trustEmail: true, claims: ["email": "jo"], email: nil),
        Case(name: "a list", trustEmail: true, claims: ["email": ["jo@example.com"]], email: nil),
        Case(name: "switched off", trustEmail: true, map: ["email": nil], email: nil),
        Case(name: "word switched off", trustEmail: true, map: ["emailVerified": nil], email: "jo@example.com"),
        Case(
            name: "mapped", trustEmail: true, map: ["email": "contact.mail", "emailVerified": "contact.ok"],
            claims: ["contact": ["mail": "x@example.org", "ok": true]], email: "x@example.org verified authoritative"),
        Case(
            name: "mapped to a URL", map: ["email": "https://id.example/mail"],
            claims: ["https://id.example/mail": "x@example.org"], email: "x@example.org verified"),

        Case(
            name: "Google: its own", issuer: google, claims: ["email": "jo@gmail.com"],
            email: "jo@gmail.com verified authoritative"),
        Case(
            name: "Google: its own, unverified", issuer: google,
            claims: ["email": "jo@gmail.com", "email_verified": false], email: "jo@gmail.com"),
        Case(
            name: "Google: hosted", issuer: google, claims: ["hd": "EXAMPLE.com"],
            email: "jo@example.com verified authoritative"),
        Case(
            name: "Google: hosted, unverified", issuer: google, claims: ["hd": "example.com", "email_verified": false],
            email: "jo@example.com"),
        Case(
            name: "Google: hosted elsewhere", issuer: google, claims: ["hd": "example.org"],
            email: "jo@example.com verified"),
        Case(name: "Google: somebody else's domain", issuer: google, email: "jo@example.com verified"),
        Case(
            name: "Google: looks like its own", issuer: google, claims: ["email": "jo@gmail.com.example.org"],
            email: "jo@gmail.com.example.org verified"),
        Case(
            name: "Google: trusted", issuer: google, trustEmail: true,
            email: "jo@example.com verified authoritative"),
        Case(
            name: "Google: another claim than its own", issuer: google, map: ["email": "profile"],
            claims: ["profile": "jo@gmail.com"], email: "jo@gmail.com verified"),
        Case(name: "another's gmail.com", claims: ["email": "jo@gmail.com"], email: "jo@gmail.com verified"),
        Case(name: "another's hd", claims: ["hd": "example.com"], email: "jo@example.com verified"),

        Case(name: "Microsoft: whatever a tenant writes", issuer: microsoft, trustEmail: true, email: "jo@example.com"),
        Case(
            name: "Microsoft: domain known", issuer: microsoft, claims: ["xms_edov": true, "email_verified": nil],
            email: "jo@example.com verified authoritative"),
        Case(
            name: "Microsoft: as a number", issuer: microsoft, claims: ["xms_edov": 1],
            email: "jo@example.com verified authoritative"),
        Case(
            name: "Microsoft: as a text", issuer: microsoft, claims: ["xms_edov": "1"],
            email: "jo@example.com verified authoritative"),
        Case(
            name: "Microsoft: as a word", issuer: microsoft, claims: ["xms_edov": "True"],
            email: "jo@example.com verified authoritative"),
        Case(
            name: "Microsoft: domain not known", issuer: microsoft, trustEmail: true, claims: ["xms_edov": "0"],
            email: "jo@example.com"),
        Case(
            name: "Microsoft: another claim than its own", issuer: microsoft, trustEmail: true,
            map: ["email": "preferred_username"],
            claims: ["preferred_username": "boss@example.org", "xms_edov": true], email: "boss@example.org"),
        Case(
            name: "Microsoft: a word of the tenant's own", issuer: microsoft, trustEmail: true,
            map: ["emailVerified": "ok"], claims: ["ok": true, "xms_edov": true], email: "jo@example.com"),
        Case(name: "another's xms_edov", claims: ["xms_edov": true], email: "jo@example.com verified"),
    ]

    @Test(arguments: cases) func `an address`(_ row: Case) async throws {
        let world = World()
        world.service.answer(
            row.issuer + "/.well-known/openid-configuration", World.discovery.with(["issuer": .string(row.issuer)]))
        world.service.answer("https://id.example/userinfo", status: 404, nil)
        let provider = try world.provider {
            $0.issuer = row.issuer
            $0.trustEmail = row.trustEmail
            $0.claims = row.map
        }
        let claims = row.claims.merging(["iss": .string(row.issuer)]) { $1 }
        let identity = try await world.signIn(with: claims, to: provider)
        #expect(identity.email == row.email)
    }

    @Test func `a phone number is never authoritative`() async throws {
        for (claims, phone): ([String: JSONValue], String?) in [
            (["phone_number": "+33612345678", "phone_number_verified": true], "+33612345678 verified"),
            (["phone_number": "+33612345678"], "+33612345678"), (["phone_number": "0612345678"], nil),
        ] {
            let world = World()
            let provider = try world.provider { $0.trustEmail = true }
            #expect(try await world.signIn(with: claims, to: provider).phone == phone)
        }
    }

    @Test(
        arguments: [
            (.string("x"), "x"), (.integer(42), "42"), (.bool(true), nil), (.string(""), nil), (.null, nil),
            (["x"], nil),
            (.string(String(repeating: "x", count: 256)), nil),
        ] as [(JSONValue, String?)])
    func `the subject of the identity`(_ claim: JSONValue, _ providerUid: String?) async throws {
        let world = World(discovery: World.discovery.with(["userinfo_endpoint": nil]))
        let provider = try world.provider { $0.claims = ["providerUid": "employee.id"] }
        let identity = try? await world.signIn(with: ["employee": ["id": claim]], to: provider)
        #expect(identity?.providerUid == providerUid)
    }

    @Test(
        arguments: [
            (["example.com"], nil, ["hd": "Example.COM"], true), (["example.com"], nil, ["hd": "example.org"], false),
            (["example.com"], nil, [:], false), (["a.example", "example.com"], nil, ["hd": "example.com"], true),
            (nil, ["T-1"], ["tid": "t-1"], true), (nil, ["t-1"], ["tid": "t-2"], false), (nil, ["t-1"], [:], false),
        ] as [([String]?, [String]?, [String: JSONValue], Bool)])
    func `hosted domains and tenants limit who may sign in`(
        _ domains: [String]?, _ tenants: [String]?, _ claims: [String: JSONValue], _ isTaken: Bool
    ) async throws {
        let world = World()
        let provider = try world.provider {
            $0.hostedDomains = domains
            $0.tenants = tenants
        }
        let identity = try? await world.signIn(with: claims, to: provider)
        #expect((identity != nil) == isTaken)
        let token = NativeToken(idToken: try world.service.sign(World.claims.with(claims)), nonce: "n-once")
        let native = try? await provider.verify(token)
        #expect((native != nil) == isTaken)
    }

    @Test func `claims in the profile`() async throws {
        let world = World(discovery: World.discovery.with(["userinfo_endpoint": nil]))
        let provider = try world.provider { $0.claims = ["team": "https://x.example/team", "groups": "org.groups"] }
        let identity = try await world.signIn(
            with: [
                "given_name": "Jo", "hd": "example.com",
                "https://x.example/team": "red", "org": ["groups": ["a", "b"]], "unheard_of": "x",
            ], to: provider)
        #expect(
            identity.profile == ["given_name": "Jo", "hd": "example.com", "team": "red", "groups": ["a", "b"]])
    }

    @Test func `unreadable methods are left out, and a long name is cut`() async throws {
        let world = World(discovery: World.discovery.with(["userinfo_endpoint": nil]))
        let name = String(repeating: "x", count: 257)
        let identity = try await world.signIn(with: ["name": .string(name), "amr": "pwd"], to: world.provider())
        #expect(identity.displayName == String(name.dropLast()))
        #expect(identity.methods == ["fed"] && identity.authenticatedAt == nil)
    }
}
