import NIOHTTP1
import ProviderKit
import Testing

/// Expects a response with the API's error body.
func expectError(
    _ answer: APIClient.Answer, _ status: Int, _ code: String, _ about: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let comment: Comment = "\(about): \(answer.status) \(answer.text)"
    #expect(answer.status == status, comment, sourceLocation: sourceLocation)
    #expect(answer.code == code, comment, sourceLocation: sourceLocation)
    expectEnvelope(answer, about, sourceLocation: sourceLocation)
}

/// Expects any 4xx response with the API's error body.
func expectRefusal(
    _ answer: APIClient.Answer, _ about: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect((400..<500).contains(answer.status), "\(about): \(answer.status)", sourceLocation: sourceLocation)
    expectEnvelope(answer, about, sourceLocation: sourceLocation)
}

/// Expects a refusal by the linking rules, with its rule, reason and remedies.
func expectRefusal(
    _ answer: APIClient.Answer, _ status: Int, _ code: String, rule: String, _ about: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expectError(answer, status, code, about, sourceLocation: sourceLocation)
    let (details, comment): (JSONValue, Comment) = (answer.json["error"]["details"], "\(about): \(answer.text)")
    #expect(details["rule"].string == rule, comment, sourceLocation: sourceLocation)
    #expect(details["reason"].string?.isEmpty == false, comment, sourceLocation: sourceLocation)
    #expect(details["remedies"].array?.isEmpty == false, comment, sourceLocation: sourceLocation)
}

private func expectEnvelope(_ answer: APIClient.Answer, _ about: String, sourceLocation: SourceLocation) {
    let comment: Comment = "\(about): \(answer.text)"
    #expect(answer.json.keys == ["error"], comment, sourceLocation: sourceLocation)
    #expect(
        answer.json["error"].keys.subtracting(["details"]) == ["code", "message"], comment,
        sourceLocation: sourceLocation)
    #expect(!answer.message.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(
        answer.headers.first(name: "content-type")?.hasPrefix("application/json") == true, comment,
        sourceLocation: sourceLocation)
    #expect(answer.headers.first(name: "x-request-id") != nil, comment, sourceLocation: sourceLocation)
    let waits = answer.status == 429 || answer.status == 503
    #expect((answer.retryAfter != nil) == waits, comment, sourceLocation: sourceLocation)
}

/// Runs a call many times concurrently.
func atOnce<Output: Sendable>(
    _ count: Int, _ call: @Sendable @escaping () async throws -> Output
) async throws -> [Output] {
    try await withThrowingTaskGroup(of: Output.self) { group in
        for _ in 0..<count {
            group.addTask { try await call() }
        }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
