internal import ProviderKit

extension Examination {
    /// The names of the settings that the server reads itself, which a provider cannot use.
    private static var taken: Set<String> { ["kind", "mode", "enabled", "displayName", "expose"] }

    mutating func examineDeclaration() {
        expect(P.kind.isPathPart, "the kind is not lower-case letters, digits and hyphens")
        expect(!P.displayName.isEmpty, "the display name is empty")
        if let direct = P.self as? any DirectProvider.Type {
            expect(direct.route.isPathPart, "the route is not lower-case letters, digits and hyphens")
        }
        let fields = P.Settings.schema.fields
        expect(Set(fields.map(\.name)).count == fields.count, "the schema has a name twice")
        for field in fields {
            expect(field.name.isSettingName, "setting \(field.name) is not a name in camelCase")
            expect(!Self.taken.contains(field.name), "setting \(field.name) is one that the server reads itself")
            expect(field.help.isSentence, "the help of \(field.name) is not a sentence: \(field.help)")
            if case .choice(let words) = field.form {
                expect(!words.isEmpty && Set(words).count == words.count, "\(field.name) has no choice, or one twice")
            }
        }
    }

    mutating func examineSettings() {
        guard provider() != nil else { return }
        for field in P.Settings.schema.fields {
            if field.isRequired { examine(BrokenSettings([field.name: .null], blames: field.name)) }
            // Every kind of setting refuses this value: lists may contain only scalars, and maps only texts.
            examine(BrokenSettings([field.name: [["deep": ["er": "still"]]]], blames: field.name))
            if field.form == .secret { examineSecret(field.name) }
        }
        for broken in fixtures.brokenSettings { examine(broken) }
    }

    private mutating func examine(_ broken: BrokenSettings) {
        let settings = fixtures.settings.merging(broken.changes) { $1 }
        let (_, problems) = ConfiguredSubject.provider(P.self, settings: settings, fixtures)
        let names = broken.changes.keys.sorted().joined(separator: ", ")
        expect(!problems.isEmpty, "settings with another \(names) are taken, though \(broken.blamed) is wrong")
        for problem in problems {
            expect(
                problem.setting == broken.blamed,
                "settings with another \(names) must be blamed on \(broken.blamed): \(problem.line)")
            expect(!secrets.contains { problem.line.contains($0) }, "a secret is repeated: \(broken.blamed)")
        }
    }

    /// Checks that the error for a refused secret does not contain the secret.
    private mutating func examineSecret(_ name: String) {
        let marker = "conformance-secret"
        let settings = fixtures.settings.merging([name: .string(marker)]) { $1 }
        let (_, problems) = ConfiguredSubject.provider(P.self, settings: settings, fixtures)
        expect(!problems.contains { $0.line.contains(marker) }, "the secret \(name) is repeated when it is refused")
    }
}

extension String {
    fileprivate var isPathPart: Bool {
        (1...32).contains(utf8.count) && first?.isLetter == true
            && utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }
    }

    fileprivate var isSettingName: Bool {
        first?.isLowercase == true && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    fileprivate var isSentence: Bool { hasSuffix(".") && count > 3 && first?.isLowercase == false && !contains("\n") }
}
