import Foundation
import Testing

@testable import GatehouseClient

/// What the sources of the library may use.
struct LibrarySourceTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/GatehouseClient")

    private static func sources() throws -> [(name: String, text: String)] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    /// The modules that a source imports, with whatever attributes, access and kind of declaration.
    private static func imports(of text: String) -> Set<String> {
        let kinds = "(?:(?:struct|class|enum|protocol|actor|func|var|let|typealias) +)?"
        guard let pattern = try? Regex<(Substring, Substring)>("(?m)^ *(?:@?\\w+ +)*import +\(kinds)(\\w+)") else {
            return []
        }
        return Set(text.matches(of: pattern).map { String($0.output.1) })
    }

    @Test(arguments: [
        "import Glibc", "    internal import Glibc", "@preconcurrency public import Glibc", "import func Glibc.getpid",
    ])
    func `every form of an import is seen`(line: String) {
        #expect(Self.imports(of: "// import Nothing\n\(line)\n/// We import nothing.\n") == ["Glibc"])
    }

    @Test func `imports nothing but Foundation, and frameworks of Apple where they exist`() throws {
        let sources = try Self.sources()
        #expect(sources.count > 20)
        for (name, text) in sources {
            let imported = Self.imports(of: text)
            #expect(
                imported.isSubset(of: ["Foundation", "FoundationNetworking", "Security", "AuthenticationServices"]))
            for module in imported.subtracting(["Foundation"]) {
                #expect(text.contains("#if canImport(\(module))"), "\(name) imports \(module) everywhere")
            }
        }
    }

    @Test func `never reads the wall clock, and never logs`() throws {
        for (name, text) in try Self.sources() {
            for call in ["Date()", "Date.now", "timeIntervalSinceNow", "print(", "NSLog("] {
                #expect(!text.contains(call), "\(name) calls \(call)")
            }
        }
    }

    /// The vectors of FIPS 180-2, and lengths around the end of a block.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (String(repeating: "a", count: 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (String(repeating: "a", count: 1_000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ])
    func `SHA-256 gives the published digests`(message: String, digest: String) {
        #expect(SHA256.hex(of: message) == digest)
    }

    /// The example of RFC 7636, appendix B.
    @Test func `the challenge of a verifier is that of the standard`() {
        let challenge = CodeVerifier.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(CodeVerifier.random() != CodeVerifier.random() && CodeVerifier.random().count == 43)
    }
}
