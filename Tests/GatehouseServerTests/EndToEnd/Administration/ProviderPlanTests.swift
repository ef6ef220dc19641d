import Accounts
import Administration
import Foundation
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// What a plan says of accounts is what happens to them.
struct ProviderPlanTests {
    private static let providers = """
        scripted: {}
        other: { kind: scripted }
        phone: { enabled: true }
        """

    /// Runs the body against a server with the generated accounts.
    private func with<Output: Sendable>(
        _ people: GeneratedAccounts, application: String,
        _ body: @escaping @Sendable (TestServer) async throws -> Output
    ) async throws -> Output {
        try await TestServer.with(
            application: application, providers: Self.providers, admin: "{ application: demo }"
        ) { server in
            try await people.plant(at: server)
            return try await body(server)
        }
    }

    @Test(arguments: [
        ("scripted", ""), ("scripted", "linking: { automatic: never }"),
        ("scripted", "linking: { maximumIdentities: 2 }"), ("email", ""), ("phone", ""),
        ("email", "linking: { automatic: never }"),
    ])
    func `exactly those are stranded who can sign in before the switch and not after it`(
        provider: String, application: String
    ) async throws {
        let people = GeneratedAccounts(60, seed: 0x5EED + UInt64(provider.utf8.count))
        let before = try await with(people, application: application) { try await people.signingIn(at: $0) }
        try await with(people, application: application) { server in
            let demo = try await server.application()
            let change = try #require(
                ModeChange(of: provider, to: .off, among: demo.providers, under: demo.policy))
            let effect = try await server.backend.store.effect(
                of: change, admins: [], sample: 1000, application: demo.id)

            let client = APIClient(server)
            let key = try await server.serviceKey()
            let plan = try await client.plan(provider, "off", key)
            #expect(plan["stranded"] == .integer(Int64(effect.stranded)))
            let switched = try await client.switchProvider(provider, plan, key)
            try #require(switched.status == 200, "\(switched.text)")
            let after = try await people.signingIn(at: server)

            let stranded = before.subtracting(after)
            #expect(
                Set(effect.sample) == stranded, "\(people.described(Set(effect.sample).symmetricDifference(stranded)))")
            #expect(effect.stranded == stranded.count && !stranded.isEmpty)
            // Nobody gains a way in, except people whose number a stranger could not take over before.
            let counted = people.accounts.filter {
                before.contains($0.uid) && ($0.has(provider) || stranded.contains($0.uid))
            }
            #expect(effect.accounts == counted.count)
            #expect(effect.identities == counted.flatMap(\.identities).count { $0.provider == provider })
            let inGrace = people.accounts.filter { $0.status == .deleted && $0.has(provider) }
            #expect(effect.inGrace == inGrace.count)
        }
    }

    @Test func `a plan has counts, the phrase and the lines of the file, and changes nothing`() async throws {
        try await TestServer.with(providers: "scripted: { mode: open }", admin: "{ application: demo }") { server in
            let client = APIClient(server)
            let key = try await server.serviceKey()
            let alone = try await client.newcomer("alone")
            let mailed = try await client.newcomer("mailed", email: APIClient.newAddress())
            let both = try await client.register(at: server)
            _ = try await client.link(.somebody("both"), bearer: both.accessToken)
            let events = try await server.audited {
                let plan = try await client.plan("scripted", "off", key)
                #expect(plan["provider"] == "scripted" && plan["from"] == "open" && plan["to"] == "off")
                #expect(plan["identities"] == 3 && plan["accounts"] == 3 && plan["inGrace"] == 0)
                #expect(plan["stranded"] == 1 && plan["detour"] == 1 && plan["unaffected"] == 1)
                #expect(plan["sample"].array == [.string(alone.uid)])
                let rules = try #require(plan["rules"].array)
                #expect(rules.map { $0["rule"] } == ["provider.off"] && rules.first?["accounts"] == 2)
                #expect(
                    rules.first?["reason"].string?.isEmpty == false && rules.first?["remedies"].array?.isEmpty == false)
                #expect(plan["sessions"]["openedByIt"] == 3 && plan["sessions"]["ofStranded"] == 1)
                #expect(plan["signIns7d"] == 3 && plan["flowsUnderWay"] == 0)
                #expect(plan["admins"] == ["affected": 0, "lastOwner": false, "you": false])
                #expect(plan["confirm"] == "demo/scripted off")
                let yaml = try #require(plan["yaml"].string)
                #expect(yaml.hasPrefix("--- test.yaml\n+++ test.yaml\n"))
                #expect(yaml.contains("\n-        mode: open\n+        mode: off\n"), "\(yaml)")
            }
            #expect(events.isEmpty)
            #expect(try await client.present(.somebody("alone"), to: "scripted").status == 200)
            #expect(try await client.get("/auth/me", bearer: mailed.accessToken).status == 200)
        }
    }

    @Test func `a narrower mode that still signs in strands nobody`() async throws {
        try await TestServer.with(providers: "scripted: {}", admin: "{ application: demo }") { server in
            let client = APIClient(server)
            let key = try await server.serviceKey()
            _ = try await client.newcomer()
            let existing = try await client.plan("scripted", "existing", key)
            #expect(existing["stranded"] == 0 && existing["unaffected"] == 1)
            #expect(existing["rules"].array?.map { $0["rule"] } == ["provider.no-sign-up"])
            let linkOnly = try await client.plan("scripted", "linkOnly", key)
            #expect(linkOnly["stranded"] == 1 && linkOnly["unaffected"] == 0)
            let unknown = try await client.post("/admin/providers/nowhere/plan", ["mode": "off"], bearer: key)
            expectError(unknown, 404, "NOT_FOUND")
            let mode = try await client.post("/admin/providers/scripted/plan", ["mode": "shut"], bearer: key)
            expectError(mode, 400, "INVALID_PARAMETER")
        }
    }

    @Test func `the last owner and the one who asks are told apart`() {
        let (ada, bob) = (UUID(), UUID())
        func impact(stranded: [UUID], remaining: [UUID], you: UUID? = nil) -> AdminImpact {
            AdminImpact(
                of: .init(stranded: stranded, detour: [], remaining: remaining), owners: [ada, bob], you: you)
        }
        #expect(impact(stranded: [ada, bob], remaining: []).lastOwner)
        #expect(!impact(stranded: [ada], remaining: [bob]).locksOut)
        #expect(impact(stranded: [ada], remaining: [bob], you: ada).you)
        #expect(!impact(stranded: [], remaining: []).locksOut)
    }
}

extension GeneratedAccounts {
    fileprivate func described(_ uids: Set<UUID>) -> String {
        accounts.filter { uids.contains($0.uid) }.map { "\($0.status) \($0.identities)" }.joined(separator: "\n")
    }
}

extension APIClient {
    /// Plans a mode of a provider of `demo`, and returns the plan.
    func plan(_ provider: String, _ mode: String, _ key: String) async throws -> JSONValue {
        let answer = try await post("/admin/providers/\(provider)/plan", ["mode": .string(mode)], bearer: key)
        try #require(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    /// Confirms a plan; `fields` replace or add members of the body.
    func switchProvider(
        _ provider: String, _ plan: JSONValue, _ key: String, _ fields: [String: JSONValue] = [:]
    ) async throws -> Answer {
        let body: [String: JSONValue] = ["plan": plan["id"], "confirm": plan["confirm"], "reason": Self.reason]
        return try await put(
            "/admin/providers/\(provider)/switch", .object(body.merging(fields) { $1 }), bearer: key)
    }

    func endSwitch(_ provider: String, _ key: String) async throws -> Answer {
        try await post("/admin/providers/\(provider)/switch/end", ["reason": Self.reason], bearer: key)
    }
}
