import AnonymousProvider
import EmailProvider
import Foundation
import GatehouseServer
import ProviderKit

/// Files that are right but for what a test adds to them.
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

    /// What is added begins on line 4.
    static func top(_ lines: String) -> String {
        required + "applications: { demo: {} }\n" + lines
    }

    /// What is added to the application `demo` begins on line 5.
    static func application(_ lines: String) -> String {
        required + "applications:\n  demo:\n" + indented(lines, by: 4)
    }

    /// What is added to the providers of `demo` begins on line 6.
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

    /// The lines that refuse a text; none when it is accepted.
    static func problems(_ yaml: String, environment: [String: String] = [:]) -> [String] {
        do {
            _ = try parse(yaml, environment: environment)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }
}

/// A directory that is gone when the test is over.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Written in one step, as a careful administrator would.
    @discardableResult
    func write(_ text: String, to name: String = "gatehouse.yaml") throws -> String {
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
        return "\(path)/\(name)"
    }
}
