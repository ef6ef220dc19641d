import AnonymousProvider
import EmailProvider
import Foundation
import GatehouseServer
import ProviderKit

/// Valid configuration files, to which tests add lines.
enum Fixture {
    static let masterKey = Data(repeating: 7, count: 32).base64EncodedString()
    static let installed = InstalledProviders([
        AnonymousProvider.self, EmailProvider.self, PhoneFake.self, AppleFake.self, OIDCFake.self, OAuth2Fake.self,
        CustomTokenFake.self, MobileNetworkFake.self,
    ])

    static let required = """
        database: { url: "postgresql://localhost/gatehouse" }
        secrets: { masterKey: "\(masterKey)" }

        """

    /// Returns a file whose added lines begin on line 4.
    static func top(_ lines: String) -> String {
        required + "applications: { demo: {} }\n" + lines
    }

    /// Returns a file with lines added to the application `demo`, beginning on line 5.
    static func application(_ lines: String) -> String {
        required + "applications:\n  demo:\n" + indented(lines, by: 4)
    }

    /// Returns a file with lines added to the providers of `demo`, beginning on line 6.
    static func providers(_ lines: String) -> String {
        application("providers:\n" + indented(lines, by: 2))
    }

    private static func indented(_ lines: String, by count: Int) -> String {
        lines.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n") + "\n"
    }

    static func parse(
        _ yaml: String, environment: [String: String] = [:], installed: InstalledProviders = installed
    ) throws(ConfigurationError) -> Configuration {
        try Configuration.parse(yaml, file: "gatehouse.yaml", environment: environment, installed: installed)
    }

    /// Returns the warnings about a text that is accepted, with real providers.
    static func warnings(_ yaml: String) throws -> [String] {
        try parse(yaml, installed: TestServer.providers).warnings.map(\.description)
    }

    /// Returns the errors about a text, or none if it is accepted.
    static func problems(_ yaml: String, environment: [String: String] = [:]) -> [String] {
        do {
            _ = try parse(yaml, environment: environment)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }
}

/// A directory that is removed when the test ends.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Replaces the file atomically, as an administrator should.
    @discardableResult
    func write(_ text: String, to name: String = "gatehouse.yaml") throws -> String {
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
        return "\(path)/\(name)"
    }
}
