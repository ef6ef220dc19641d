import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The console's questions about accounts, whose answers are pages.
struct AccountQuestionPagesTests {
    private static func page(of person: Person) -> String { "/console/demo/accounts/\(person.uid)" }

    @Test func `a reveal shows the fields that were asked for; no other page shows them`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let person = try await APIClient(server).register(at: server)
            let page = Self.page(of: person)
            let fields = ["fields": "email", "reason.code": "support"]
            let revealed = try await browser.submit(page + "/reveal", fields)
            #expect(revealed.status == 200 && revealed.text.contains(person.email), "\(revealed.text)")
            #expect(revealed.title == "Revealed fields" && !revealed.text.contains("Metadata"))
            for path in ["", "/reveal", "/disable", "/why", "/merge", "/notes", "/access"] {
                let shown = try await browser.open(page + path)
                #expect(shown.status == 200, "\(path): \(shown.text)")
                #expect(!shown.text.contains(person.email), "\(path)")
            }
            #expect(try await browser.open(page).text.contains("An administrator looked at fields"))
            let refused = try await browser.submit(page + "/reveal", ["fields": "email"])
            #expect(refused.status == 400 && !refused.text.contains(person.email))
        }
    }

    @Test func `why a person has a second account`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let ada = try await client.register(at: server)
            let evidence = VerifiedIdentity.somebody(email: ada.email, isTrusted: false)
            let second = try Person(try await client.present(evidence, to: "scripted"), email: "", password: "")
            let page = try await browser.open(Self.page(of: second) + "/why?other=\(ada.uid)")
            #expect(page.status == 200 && page.text.contains("is no authority for it"), "\(page.text)")
            #expect(page.text.contains("opens a new account") && page.text.contains("address.unproven"))
            #expect(page.links.contains { $0.target == Self.page(of: ada) }, "the owner of the address today")
            #expect(page.text.contains("What can be done") && !page.text.contains(ada.email))
        }
    }

    @Test func `the forecast of a merge changes nothing, and the survivor of a merge is shown by both uids`()
        async throws
    {
        try await ConsoleBrowser.with { server, browser in
            let client = APIClient(server)
            let ada = try await client.register(at: server)
            let eve = try await client.newcomer("eve", email: APIClient.newAddress())
            let page = Self.page(of: ada)
            let forecast = try await browser.submit(page + "/merge", ["other": eve.uid])
            #expect(forecast.status == 200 && forecast.text.contains("id=\"forecast\""), "\(forecast.text)")
            #expect(forecast.text.contains("Only the person can merge") && !forecast.text.contains(eve.email))
            #expect(forecast.links.contains { $0.target == Self.page(of: eve) })
            #expect(forecast.form(page + "/merge")?["other"] == eve.uid)

            let ticket = try await client.ticket(.somebody("eve"), bearer: ada.accessToken)
            let merged = try await client.merge(ticket, bearer: ada.accessToken)
            #expect(merged["merge"]["absorbed"].string == eve.uid, "\(merged.text)")
            let alias = try await browser.open(Self.page(of: eve))
            #expect(alias.text.contains("was absorbed by <a href=\"\(page)\">"), "\(alias.text)")
            #expect(try await browser.open(page).text.contains(eve.uid), "in the list of merges")
        }
    }

    @Test func `an invitation leads to the accounts, and a taken address is refused`() async throws {
        try await ConsoleBrowser.with(role: .support) { server, browser in
            let person = try await APIClient(server).register(at: server)
            let path = "/console/demo/invitations"
            let form = try #require(try await browser.open(path).form(path))
            #expect(form.names.isDisjoint(with: ["roles", "claims", "reason.note"]), "\(form.names)")
            let sent = try await browser.submit(path, ["email": APIClient.newAddress(), "reason.code": "support"])
            #expect(sent.status == 303 && sent.location == "/console/demo/accounts", "\(sent.text)")
            #expect(try await sent.follow().said == "The invitation is on its way.")
            let taken = try await browser.submit(path, ["email": person.email, "reason.code": "support"])
            #expect(taken.status == 409 && taken.alertCode == "EXISTING_IDENTITY", "\(taken.text)")
            #expect(taken.form(path)?["email"] == person.email)
        }
    }

    @Test func `only an owner is shown a recovery link, with the phrase`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let person = try await APIClient(server).register(at: server)
            let path = Self.page(of: person) + "/recover"
            let fields = ["deliver": "show", "reason.code": "person-asked"]
            let refused = try await browser.submit(path, fields)
            #expect(refused.status == 409 && refused.alertCode == "CONFIRMATION_REQUIRED", "\(refused.text)")
            let made = try await refused.submit(path, ["confirm": "recover \(person.uid)"])
            #expect(made.status == 303 && made.location?.contains("token") == false, "\(made.text)")
            let shown = try await made.follow()
            #expect(shown.shownOnce?.contains("/recover?token=") == true, "\(shown.text)")
            #expect(try await browser.open(Self.page(of: person)).shownOnce == nil, "the link is shown once")
        }
    }

    @Test func `an owner of one application does not act on an owner of all`() async throws {
        try await ConsoleBrowser.with(on: "demo", others: TestServer.photos) { server, browser in
            let (other, person) = (
                try await APIClient(server).register(at: server), try await APIClient(server).register(at: server)
            )
            try await server.grant(.owner, to: other)
            try await server.grant(.auditor, to: person, on: "photos")
            let acts = [
                "/recover": ["deliver": "show", "confirm": "recover UID"], "/reveal": ["fields": "email"],
                "/disable": [:], "/delete": [:], "/access": ["roles": "editor"],
            ]
            let roles = try await server.count("SELECT count(*) FROM admin_grants")
            for (path, fields) in acts {
                for victim in [other, person] {
                    var fields = fields.mapValues { $0.replacing("UID", with: victim.uid) }
                    fields["reason.code"] = "support"
                    let refused = try await browser.submit(Self.page(of: victim) + path, fields)
                    #expect(refused.status == 403 && refused.alertCode == "FORBIDDEN", "\(path): \(refused.text)")
                }
            }
            #expect(try await server.count("SELECT count(*) FROM proofs WHERE kind = 'recovery'") == 0)
            #expect(try await server.count("SELECT count(*) FROM admin_grants") == roles)

            // A person who may grant the same role may act on them.
            try await server.grant(.owner, to: browser.person, on: "photos")
            let path = Self.page(of: person) + "/disable"
            let done = try await browser.submit(path, ["reason.code": "support"])
            #expect(done.status == 303, "\(done.text)")
        }
    }
}
