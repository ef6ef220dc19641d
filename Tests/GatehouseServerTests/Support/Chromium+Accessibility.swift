import Foundation
import ProviderKit
import Testing

extension Chromium {
    /// The script of axe-core; if it cannot be had, the test is skipped and gives the reason.
    static func axe() async throws -> String {
        let path = try await PythonPrograms.axe().path(inPackages: "axe_playwright_python/axe.min.js")
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// Expects that axe-core, which has been evaluated, finds nothing wrong, and that nothing scrolls sideways.
    ///
    /// `rules` are options of axe-core that choose the rules.
    func expectNothing(
        of rules: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let faults = try await evaluate(
            """
            axe.run(document, Object.assign({resultTypes: ['violations']}, \(rules))).then(found => JSON.stringify([
                ...found.violations.flatMap(rule => rule.nodes.map(node => rule.id + ' ' + node.html.slice(0, 200))),
                ...(document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : [])]))
            """)
        #expect(faults == "[]", "\(name)", sourceLocation: sourceLocation)
    }
}
