import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// An app on a phone that answers codes by the REST interface.
struct QRPhone: Sendable {
    let api: APIClient
    let token: String

    init(_ api: APIClient, _ token: String) { (self.api, self.token) = (api, token) }

    init(of person: Person, at server: TestServer) { self.init(APIClient(server), person.accessToken) }

    func look(_ code: String, languages: String? = nil) async throws -> APIClient.Answer {
        try await api.send(
            .GET, "/api/v1/auth/qr/\(code)", bearer: token, headers: languages.map { ["accept-language": $0] } ?? [:])
    }

    func confirm(_ code: String, _ number: JSONValue? = nil) async throws -> APIClient.Answer {
        try await api.post("/auth/qr/\(code)/confirm", number.map { ["number": $0] } ?? [:], bearer: token)
    }

    func refuse(_ code: String, _ cause: String = "mistake", comment: String? = nil) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["cause": .string(cause)]
        body["comment"] = comment.map { .string($0) }
        return try await api.post("/auth/qr/\(code)/refuse", .object(body), bearer: token)
    }

    /// Looks at the code of a browser's page, and types the number that the page shows then.
    func allow(_ page: PageBrowser.View, in browser: inout PageBrowser) async throws {
        let code = try #require(page.qrCode, "\(page.text)")
        let seen = try await look(code)
        try #require(seen.status == 200, "\(seen.text)")
        let number = try #require(try await browser.open(page.path).number)
        let confirmed = try await confirm(code, .integer(Int64(number)))
        try #require(confirmed.status == 204, "\(confirmed.text)")
    }
}

extension PageBrowser.View {
    /// `data-state` of the page with a code.
    var state: String? { text.firstMatch(of: /<main [^>]*data-state="([a-z]+)"/).map { String($0.output.1) } }
    /// The code in the page's picture, from the text below it.
    var qrCode: String? {
        text.firstMatch(of: /<span id="url">[^<]*[?&;]code=([0-9a-f-]{36})</).map { String($0.output.1) }
    }
    /// The number that the person types on the phone.
    var number: Int? { text.firstMatch(of: /<strong id="number">([0-9]+)</).flatMap { Int($0.output.1) } }
}

extension PageBrowser {
    static let desktop =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36"

    /// Begins a request, and shows its page with a code.
    mutating func showCode(_ party: RelyingParty, _ parameters: [String: String] = [:]) async throws -> View {
        let page = try await submit("qr", of: begin(party, parameters))
        try #require(page.step == "qr" && page.qrCode != nil, "\(page.status) \(page.text)")
        return page
    }

    /// What the script of the page waits for.
    func waitForCode(at page: View, after state: String?) async throws -> APIClient.Answer {
        try await api.send(
            .GET, "\(page.path)/qr\(state.map { "?after=\($0)" } ?? "")", headers: ["cookie": cookieHeader])
    }
}
