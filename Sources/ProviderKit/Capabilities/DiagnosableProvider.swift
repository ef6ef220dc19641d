/// A provider that can check its settings together with its service, on behalf of an administrator.
public protocol DiagnosableProvider: Provider {
    /// The checks, in the order in which they run.
    ///
    /// The checks call the service through the tools, not through `ProviderPorts`, so that they report why a call failed
    /// and change nothing about the sign-ins of people.
    func checks(with tools: DiagnosticTools) -> [ProviderCheck]
}
