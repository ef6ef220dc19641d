import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Lists that the server reads as a whole are read in parts like all others.
struct WholeListTests {
    @Test func `webhooks, keys and providers are read in parts, each with cursors of its own`() async throws {
        let hooks = (1...3).map { number in
            "{ url: \"http://127.0.0.1:9/\(number)\", secret: \(WebhookSink.secret), name: hook\(number) }"
        }
        try await TestServer.with(
            providers: "scripted: {}", others: TestServer.photos, webhooks: "[\(hooks.joined(separator: ", "))]",
            admin: OperatorClient.admin
        ) { server in
            let admin = try await OperatorClient.of(server)
            let photos = try await OperatorClient.of(server, application: "photos")
            for _ in 1...2 { #expect(try await admin.act("/keys/rotate").status == 200) }
            for (path, id) in [("/webhooks", "id"), ("/keys", "kid"), ("/providers", "name")] {
                let whole = try await admin.get(path)
                let ids = (whole["items"].array ?? []).compactMap { $0[id].string }
                #expect(ids.count >= 2 && whole["next"] == .null, "\(whole.text)")
                for limit in 1...3 {
                    #expect(try await admin.all(path, limit: limit).compactMap { $0[id].string } == ids, "\(path)")
                }
                let cursor = try #require(try await admin.get("\(path)?limit=1")["next"].string)
                for other in ["/webhooks", "/keys", "/providers", "/messages"] where other != path {
                    expectError(try await admin.get("\(other)?after=\(cursor)"), 400, "INVALID_PARAMETER", other)
                }
                expectError(try await photos.get("\(path)?after=\(cursor)"), 400, "INVALID_PARAMETER", path)
                for query in ["limit=0", "limit=201", "after=x", "after=\(cursor)x", "after="] {
                    expectError(try await admin.get("\(path)?\(query)"), 400, "INVALID_PARAMETER", query)
                }
            }
        }
    }

    @Test func `a list goes on after the last item that was sent, also if that is gone`() async throws {
        try await TestServer.with { server in
            let cursors = PageCursors(opaque: server.backend.opaque)
            let list = PageCursors.List("letters", of: try await server.application())
            func page(_ items: [String], after cursor: String? = nil) throws -> Page<String> {
                try cursors.page(of: items, identifiedBy: { $0 }, RequestedPage(limit: 2, after: cursor), in: list)
            }
            let first = try page(["a", "b", "c", "d"])
            #expect(first.items == ["a", "b"])
            let cursor = try #require(first.next)
            #expect(try page(["new", "a", "b", "c", "d"], after: cursor).items == ["c", "d"])
            let last = try page(["a", "c", "d"], after: cursor)
            #expect(last.items == ["c", "d"] && last.next == nil)
            #expect(try page([], after: cursor).items.isEmpty)
        }
    }
}
