internal import ArgumentParser
internal import Foundation
internal import Outbound
internal import ProviderKit

/// `gatehouse dialect`.
struct DialectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dialect", abstract: "Helps to connect existing apps.", subcommands: [Check.self])

    /// `gatehouse dialect check`: calls a server as the apps of a dialect do.
    struct Check: ServerCommand {
        static let configuration = CommandConfiguration(
            abstract: "Calls a server as existing apps do, and lists what they would not understand.",
            discussion: """
                It calls the server from outside, so that it also shows what a proxy does not pass on. Nobody is signed \
                in, and nothing is changed. The configuration is not read.
                """)

        @Argument(help: "The dialect: immich or timetracker.")
        var name: Dialect
        @Option(help: "What the person enters in the app, as in https://photos.example.com.")
        var url: String
        @Option(name: .customLong("redirect-uri"), help: "The app's redirect URI. Default: that of the public app.")
        var redirectURI: String?

        enum Dialect: String, ExpressibleByArgument {
            case immich, timetracker

            func calls(_ redirectURI: String?) throws -> [DialectCall] {
                switch self {
                case .immich: try DialectCall.immich(redirectURI: redirectURI ?? "app.immich:///oauth-callback")
                case .timetracker:
                    try DialectCall.timeTracker(redirectURI: redirectURI ?? "timetracker://oauth/callback")
                }
            }
        }

        func run(installed: InstalledProviders) async throws {
            let network = OutboundNetwork()
            let calls = try name.calls(redirectURI)
            let base = String(url.reversed().drop { $0 == "/" }.reversed())
            var (made, differing) = (0, 0)
            var features: JSONValue?
            for call in calls {
                if let feature = call.feature, features?[feature] == false {
                    print("\(call.name)  not made: the server says that \(feature) is off")
                    continue
                }
                let (answer, differences) = await differences(of: call, to: base, by: network)
                if call.request.url == DialectCall.featuresPath { features = answer?.json }
                made += 1
                differing += differences.isEmpty ? 0 : 1
                let result = differences.isEmpty ? "ok" : "differs: \(differences.joined(separator: "; "))"
                print("\(call.name)  \(result)")
            }
            await network.shutdown()
            guard differing == 0 else {
                throw ServerError.differentDialect(name.rawValue, differing: differing, of: made)
            }
        }

        private func differences(
            of call: DialectCall, to base: String, by network: OutboundNetwork
        ) async -> (answer: FetchResponse?, differences: [String]) {
            do {
                let answer = try await network.send(call.request(to: base))
                return (answer, call.differences(in: answer))
            } catch {
                return (nil, ["there is no answer: \(error)"])
            }
        }
    }
}
