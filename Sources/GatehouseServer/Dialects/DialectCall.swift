internal import Foundation
internal import ProviderKit

/// A call that the apps of a dialect make, and the answer that they need, for `gatehouse dialect check`.
///
/// No call signs anybody in, so a check leaves nothing behind but refused attempts.
struct DialectCall: Sendable {
    /// The type of a member that the apps' models require.
    enum MemberType: String, Sendable { case text, number, flag = "true or false" }

    /// The content of an answer.
    enum Content: Sendable {
        /// Exactly this JSON.
        case json(JSONValue)
        /// An object with at least these members.
        case members([String: MemberType])
        /// An object whose `message` is this text, and which repeats the status.
        case refusal(String)
        case page
        /// No content that an app reads.
        case any
    }

    let request: FetchRequest
    let status: Int
    let content: Content
    /// Whether the answer sends the browser to another URL.
    var redirects = false
    /// Whether a shared cache must not store the answer.
    var isPrivate = true
    /// The feature, as `/api/server/features` names it, without which the apps do not make the call.
    var feature: String?

    static func get(_ path: String, headers: [String: String] = [:], _ status: Int, _ content: Content) -> Self {
        var request = FetchRequest.get(path)
        request.headers = headers
        return Self(request: request, status: status, content: content)
    }

    static func post(
        _ path: String, _ body: JSONValue, headers: [String: String] = [:], _ status: Int, _ content: Content
    ) throws -> Self {
        try send("POST", path, body, headers: headers, status, content)
    }

    static func send(
        _ method: String, _ path: String, _ body: JSONValue, headers: [String: String] = [:], _ status: Int,
        _ content: Content
    ) throws -> Self {
        var request = FetchRequest.post(path, json: Array(try JSONEncoder.stable.encode(body)))
        (request.headers, request.method) = (headers, method)
        return Self(request: request, status: status, content: content)
    }

    /// The method and path, without the query.
    var name: String { "\(request.method ?? "GET") \(request.url.prefix { $0 != "?" })" }

    /// The request to a server whose base URL has no trailing slash.
    func request(to base: String) -> FetchRequest {
        let url = base + request.url
        var sent = request.content.map { FetchRequest.post(url, json: $0.bytes) } ?? .get(url)
        (sent.headers, sent.method) = (request.headers, request.method)
        return sent
    }

    /// What the apps would not understand of a response; empty if they understand all.
    func differences(in response: FetchResponse) -> [String] {
        guard response.status == status else { return ["the status is \(response.status), not \(status)"] }
        var differences = contentDifferences(in: response)
        if redirects, response.headers["location"]?.isEmpty != false { differences.append("it leads nowhere") }
        if isPrivate, response.headers["cache-control"]?.contains("no-store") != true {
            differences.append("caches may store it")
        }
        return differences
    }

    private func contentDifferences(in response: FetchResponse) -> [String] {
        let body = response.json
        switch content {
        case .any: return []
        case .page:
            return response.headers["content-type"]?.hasPrefix("text/html") == true ? [] : ["it is no page"]
        case .json(let expected):
            return body == expected ? [] : ["the body is not \(expected.text)"]
        case .refusal(let message):
            var differences: [String] = []
            if body?["message"].string != message { differences.append("the message is not “\(message)”") }
            if body?["statusCode"].integer != Int64(status) { differences.append("statusCode is not \(status)") }
            return differences
        case .members(let members):
            guard let object = body?.object else { return ["the body is no JSON object"] }
            return members.sorted { $0.key < $1.key }.compactMap { name, type in
                guard let value = object[name] else { return "\(name) is missing" }
                return value.has(type) ? nil : "\(name) is not \(type.rawValue)"
            }
        }
    }
}

extension JSONValue {
    fileprivate func has(_ type: DialectCall.MemberType) -> Bool {
        switch (self, type) {
        case (.string, .text), (.integer, .number), (.number, .number), (.bool, .flag): true
        default: false
        }
    }
}
