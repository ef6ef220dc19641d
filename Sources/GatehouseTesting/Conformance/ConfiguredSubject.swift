internal import Accounts
internal import Foundation
internal import GatehouseServer
internal import ProviderKit

/// Creates the provider under test from a configuration file, as a server does.
enum ConfiguredSubject {
    struct Problem {
        /// The path of the provider's setting that has the problem; `nil` if the problem is elsewhere.
        let setting: String?
        let line: String
    }

    private static let name = "subject"
    private static let place = "applications.conformance.providers.\(name)"

    static func provider<P: Provider>(
        _ type: P.Type, settings: [String: JSONValue], _ fixtures: ProviderFixtures
    ) -> (P?, [Problem]) {
        let ports = ConformancePorts.make(http: fixtures.service, now: { fixtures.now })
        let installed = InstalledProviders([type], ports: FixedPorts(ports))
        do throws(ConfigurationError) {
            let configuration = try Configuration.parse(
                file(P.kind, settings), file: "conformance.yaml", environment: [:], installed: installed)
            let provider = configuration.application(named: "conformance")?.providers.all.first?.provider as? P
            return (provider, provider == nil ? [Problem(setting: nil, line: "no provider was made")] : [])
        } catch {
            return (nil, error.problems.map(problem))
        }
    }

    /// A configuration file in JSON, which is valid YAML.
    private static func file(_ kind: String, _ settings: [String: JSONValue]) -> String {
        let given = settings.filter { !$1.isNull }
        let provider = given.merging(["kind": .string(kind), "mode": "open"]) { $1 }
        let file: JSONValue = [
            "server": ["publicURL": "https://id.example"], "database": ["url": "postgresql://localhost/nobody"],
            "secrets": ["masterKey": .string(Data(repeating: 7, count: 32).base64EncodedString())],
            "applications": ["conformance": ["audience": "conformance", "providers": [name: .object(provider)]]],
        ]
        return file.text
    }

    private static func problem(_ problem: ConfigurationProblem) -> Problem {
        let setting = problem.path.hasPrefix(place + ".") ? problem.path.dropFirst(place.count + 1) : nil
        return Problem(
            setting: setting.map { String($0.prefix { $0 != "." && $0 != "[" }) }, line: problem.description)
    }
}
