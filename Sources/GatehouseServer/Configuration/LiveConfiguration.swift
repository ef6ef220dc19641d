package import Administration
internal import Foundation
internal import Synchronization

/// The configuration that the server runs with, and the changed file that it has refused last.
package final class LiveConfiguration: ConfigurationInForce {
    private let current: Mutex<(values: [ConfigurationValue], refused: RefusedConfiguration?)>

    package init(_ configuration: Configuration) { current = Mutex((configuration.values, nil)) }

    package var values: [ConfigurationValue] { current.withLock { $0.values } }
    package var refused: RefusedConfiguration? { current.withLock { $0.refused } }

    /// Notes that a configuration was taken over.
    func replace(with configuration: Configuration) { current.withLock { $0 = (configuration.values, nil) } }

    /// Notes that the file is the one in force again.
    func forgetRefusal() { current.withLock { $0.refused = nil } }

    /// Notes that a changed file was refused; the time is that of the first of several equal refusals.
    func refuse(_ problems: [ConfigurationProblem]) {
        let listed = problems.map { problem in
            RefusedConfiguration.Problem(
                line: problem.line, key: problem.path, reason: problem.reason.escapingControlCharacters,
                application: problem.path.configuredApplication)
        }
        current.withLock { current in
            guard current.refused?.problems != listed else { return }
            current.refused = RefusedConfiguration(at: Date(), problems: listed)
        }
    }
}
