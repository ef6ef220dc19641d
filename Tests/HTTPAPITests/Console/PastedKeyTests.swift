import Testing

@testable import HTTPAPI

/// Keys in PEM that were pasted into a password field, which has lost their lines.
struct PastedKeyTests {
    private static let body = String(repeating: "MIGH", count: 32)

    @Test(arguments: ["", "\n", "\r\n"])
    func `a key gets its lines back`(separator: String) {
        let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")
        let pasted = [begin, Self.body, end].joined(separator: separator)
        let lines = pasted.withLinesOfPEM.split(separator: "\n").map(String.init)
        #expect(lines.first == begin && lines.last == end)
        #expect(lines.dropFirst().dropLast().joined() == Self.body && lines.allSatisfy { $0.utf8.count <= 64 })
    }

    @Test(arguments: ["secret", " secret ", #"{"keys": []}"#, "-----BEGIN PRIVATE KEY-----"])
    func `another secret stays as it is`(secret: String) { #expect(secret.withLinesOfPEM == secret) }
}
