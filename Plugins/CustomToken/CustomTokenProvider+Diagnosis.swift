public import ProviderKit

extension CustomTokenProvider: DiagnosableProvider {
    /// Whether the published keys are usable; keys in the settings were checked when these were read.
    public func checks(with tools: DiagnosticTools) -> [ProviderCheck] {
        guard case .published(let url) = rules.keys else {
            return [ProviderCheck("keys") { .ok("The keys of the settings can be read.") }]
        }
        let visit = ServiceVisit(.get(url), with: tools)
        return visit.reachability + [
            ProviderCheck("keys", after: ["name"]) { await tokens.check(visit, for: rules.algorithms) },
            visit.clock,
        ]
    }
}
