/// Notes what a provider finds wrong with its service, so that administrators see it.
///
/// Noting is an increment in memory. It changes nothing about the sign-in, which still throws its error.
public protocol FindingNoting: Sendable {
    /// Notes a finding.
    func note(_ finding: ProviderFinding)
}

/// Keeps no finding, for tests and for commands that only read the configuration.
public struct UnnotedFindings: FindingNoting {
    /// Creates the port.
    public init() {}

    /// Does nothing.
    public func note(_ finding: ProviderFinding) {}
}
