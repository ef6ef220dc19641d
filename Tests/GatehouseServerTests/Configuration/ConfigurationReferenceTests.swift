import Crypto
import Foundation
import OpenIDConnectProvider
import ProviderKit
import Testing

@testable import GatehouseServer

/// `docs/configuration.md` and `deploy/gatehouse.example.yaml` match the declared settings that files are checked
/// against.
struct ConfigurationReferenceTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL
    private static let page = repository.appending(path: "docs/configuration.md")
    private static let example = repository.appending(path: "deploy/gatehouse.example.yaml")
    private static let container = repository.appending(path: "deploy/container/gatehouse.yaml")
    /// The text after this marker is generated from the declarations.
    private static let marker = "<!-- The rest is written by ConfigurationReferenceTests. -->\n"

    private let kinds = TestServer.providers.kinds.filter { $0.kind != ScriptedProvider.kind } + ReadyProviders.all

    /// If `GATEHOUSE_WRITE_REFERENCE` is set, the test updates the page instead of failing; use it after a declaration
    /// has changed.
    @Test func `the reference has every declared key, and no other`() throws {
        let parts = try String(contentsOf: Self.page, encoding: .utf8).split(separator: Self.marker, maxSplits: 1)
        let reference = ConfigurationReference(kinds: kinds).markdown
        if ProcessInfo.processInfo.environment["GATEHOUSE_WRITE_REFERENCE"] != nil {
            try Data((parts[0] + Self.marker + reference).utf8).write(to: Self.page)
        } else {
            let written = parts.last?.split(separator: "\n") ?? []
            let declared = reference.split(separator: "\n")
            #expect(declared.filter { !written.contains($0) } == [], "missing in docs/configuration.md")
            #expect(written.filter { !declared.contains($0) } == [], "not declared")
            #expect(written == declared)
        }
    }

    @Test func `the example passes config check`() async throws {
        let environment = [
            "GATEHOUSE_MASTER_KEY": Fixture.masterKey, "DATABASE_PASSWORD": "p", "SMTP_PASSWORD": "p",
            "SMS_PASSWORD": "p", "WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "PASSWORD_PEPPER": String(repeating: "p", count: 32), "GOOGLE_SECRET": "s", "OIDC_SECRET": "s",
            "OAUTH_SECRET": "s", "APPLE_KEY": P256.Signing.PrivateKey().pemRepresentation,
        ]
        try await ProcessDirectory.with { directory in
            let outcome = try await GatehouseProcess.run(
                ["config", "check", "--config", Self.example.path], in: directory, environment: environment)
            #expect(outcome.status == 0, "\(outcome.errorLines)")
            #expect(outcome.output.contains("is fine"))
        }
    }

    @Test func `the configuration of the container passes config check`() async throws {
        try await ProcessDirectory.with { directory in
            try directory.write("postgresql://gatehouse@postgresql/gatehouse", to: "database-url")
            try directory.write(Fixture.masterKey, to: "master-key")
            let outcome = try await GatehouseProcess.run(
                ["config", "check", "--config", Self.container.path], in: directory,
                environment: ["CREDENTIALS_DIRECTORY": directory.url.path])
            #expect(outcome.status == 0, "\(outcome.errorLines)")
        }
    }

    @Test func `the example shows every section and every key of an application`() throws {
        let lines = try String(contentsOf: Self.example, encoding: .utf8).split(separator: "\n")
        for setting in Configuration.settings {
            #expect(lines.contains { $0.hasPrefix("\(setting.name):") }, "\(setting.name)")
        }
        for setting in ApplicationSettings.settings {
            #expect(lines.contains { $0.hasPrefix("    \(setting.name):") }, "applications.NAME.\(setting.name)")
        }
    }
}

/// The tables of `docs/configuration.md`.
private struct ConfigurationReference {
    let kinds: [any Provider.Type]

    var markdown: String {
        let sections = Configuration.settings.map { section($0) }
        let providers = kinds.map { kind in
            "### Provider `\(kind.kind)`\n\n" + table(settings(of: kind).flatMap { rows($0, below: "") })
        }
        return "## Settings\n\n" + (sections + providers).joined(separator: "\n\n") + "\n"
    }

    private func section(_ setting: Setting) -> String {
        let isReloadable = Configuration.Section(key: setting.name)?.isReloadable == true
        let effect = isReloadable ? "Changes take effect within seconds." : "Changes need a restart."
        let rows = rows(setting, below: "")
        let table = table(setting.form.children.settings.isEmpty ? rows : Array(rows.dropFirst()))
        return "### `\(setting.name)`\n\n\(setting.help) \(effect)\n\n\(table)"
    }

    private func settings(of kind: any Provider.Type) -> [Setting] {
        Array(ProviderOptions.settings(of: kind).dropFirst(ProviderOptions.settings.count))
    }

    private func table(_ rows: [String]) -> String {
        guard !rows.isEmpty else { return "It has no settings of its own." }
        return (["| key | value | default | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }

    /// Returns the setting's own row, followed by those of the keys below it.
    private func rows(_ setting: Setting, below prefix: String) -> [String] {
        let path = prefix + setting.name
        // Forms of durations and rates are explained once, at the top of the page.
        let value = setting.form.description.replacing(/\s\([^)]*\)/, with: "")
        let standard = setting.isRequired && setting.derived == nil ? "required" : text(of: setting.standard)
        let children = setting.form.children
        return ["| `\(path)` | \(value) | \(standard) | \(setting.help) |"]
            + children.settings.flatMap { rows($0, below: path + children.separator) }
    }

    private func text(of standard: ConfigurationNode.Content?) -> String {
        switch standard {
        case .scalar(let text): "`\(text)`"
        case .list(let items): items.isEmpty ? "`[]`" : "all"
        case .table, .null, nil: ""
        }
    }
}
