import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ProviderKit
import Testing

/// A minimal browser for sign-in pages: it follows redirects, keeps cookies and submits forms with the fields of the
/// page.
struct Browser {
    /// The current URL.
    private(set) var url: URLComponents
    /// The current page.
    private(set) var page = ""
    private var cookies: [String: String] = [:]

    private static let http = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))

    init() { url = URLComponents() }

    /// Opens a URL and follows redirects until a page is returned or a redirect leaves the provider.
    mutating func open(_ url: URLComponents) async throws {
        self.url = url
        try await load(HTTPClientRequest(url: url.string ?? ""))
    }

    /// Submits the form that contains all of these fields, with the other fields unchanged.
    mutating func submit(_ values: [String: String]) async throws {
        let forms = page.matches(of: /<form\b(?<attributes>[^>]*)>(?<content>.*?)<\/form>/.dotMatchesNewlines())
        let form = forms.lazy.map { Form(attributes: $0.attributes, content: $0.content) }.first { $0.takes(values) }
        guard let form else {
            Issue.record("no form at \(url.path) takes \(values.keys.sorted()):\n\(page)")
            throw NoSuchForm()
        }
        let target = try #require(form.action.isEmpty ? url : form.action.url(from: url))
        try #require(target.isNeighbour(of: url), "a password must not go elsewhere: \(target)")
        var request = HTTPClientRequest(url: target.string ?? "")
        request.method = .POST
        let (type, body) = form.encoded(with: values)
        request.headers.add(name: "content-type", value: type)
        request.body = .bytes(Array(body.utf8))
        url = target
        try await load(request)
    }

    private struct NoSuchForm: Error {}

    private mutating func load(_ request: HTTPClientRequest) async throws {
        var request = request
        for _ in 1...10 {
            if !cookies.isEmpty {
                let text = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
                request.headers.replaceOrAdd(name: "cookie", value: text)
            }
            let response = try await Self.http.execute(request, timeout: .seconds(30))
            for cookie in response.headers["set-cookie"] { keep(cookie) }
            page = String(buffer: try await response.body.collect(upTo: 1 << 20))
            guard (301...303).contains(response.status.code) else {
                try #require(response.status == .ok, "\(url.path): \(response.status.code)\n\(page)")
                return
            }
            let next = try #require(response.headers.first(name: "location")?.url(from: url))
            let isAway = !next.isNeighbour(of: url)
            url = next
            guard !isAway else { return }
            request = HTTPClientRequest(url: next.string ?? "")
        }
        Issue.record("\(url.path) leads on and on")
    }

    private mutating func keep(_ cookie: String) {
        let parts = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first.map(String.init) else { return }
        let isOver = cookie.lowercased().contains("max-age=0") || cookie.contains("Thu, 01 Jan 1970")
        cookies[name] = isOver ? nil : parts.last.map(String.init)
    }
}

/// A form in a page.
private struct Form {
    let action: String
    private let isMultipart: Bool
    /// The form's fields with their values, which are sent unless another value is given.
    private let fields: [String: String]
    /// The form's buttons by name with their values; at most one is pressed.
    private let buttons: [String: Set<String>]

    init(attributes: Substring, content: Substring) {
        action = attributes.attribute("action") ?? ""
        isMultipart = attributes.attribute("enctype") == "multipart/form-data"
        var fields: [String: String] = [:]
        var buttons: [String: Set<String>] = [:]
        for match in content.matches(of: /<(?<element>input|button)\b(?<attributes>[^>]*)>/) {
            guard let name = match.attributes.attribute("name") else { continue }
            let value = match.attributes.attribute("value")
            if match.element == "button" || match.attributes.attribute("type") == "submit" {
                buttons[name, default: []].insert(value ?? "")
            } else if match.attributes.attribute("type") != "checkbox" || match.attributes.contains(/\bchecked\b/) {
                fields[name] = value ?? ""
            }
        }
        self.fields = fields
        self.buttons = buttons
    }

    func takes(_ values: [String: String]) -> Bool {
        values.allSatisfy { fields[$0.key] != nil || buttons[$0.key]?.contains($0.value) == true }
    }

    /// Returns the body's content type and the body.
    func encoded(with values: [String: String]) -> (String, String) {
        let all = fields.merging(values) { $1 }
        guard isMultipart else {
            let text = all.map { "\($0.key.formEncoded)=\($0.value.formEncoded)" }.joined(separator: "&")
            return ("application/x-www-form-urlencoded", text)
        }
        let boundary = "boundary-\(UUID().uuidString)"
        let parts = all.map {
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\($0.key)\"\r\n\r\n\($0.value)\r\n"
        }
        return ("multipart/form-data; boundary=\(boundary)", parts.joined() + "--\(boundary)--\r\n")
    }
}

extension Substring {
    fileprivate func attribute(_ name: String) -> String? {
        matches(of: /(?<name>[a-z-]+)="(?<value>[^"]*)"/).first { $0.name == name }
            .map { String($0.value).replacing("&#34;", with: "\"").replacing("&amp;", with: "&") }
    }
}

extension String {
    fileprivate func url(from base: URLComponents) -> URLComponents? {
        URL(string: self, relativeTo: base.url).flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
    }
}

extension URLComponents {
    /// Whether both URLs have the same origin.
    fileprivate func isNeighbour(of other: URLComponents) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }
}
