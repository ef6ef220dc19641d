import Foundation
import HTTPAPI
import NIOHTTP1
import OpenID
import Testing

@testable import GatehouseServer

/// Checks that the pages of the repository match its files, errors, metrics and log lines.
struct DocumentationTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let pages = [
        "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Plugins/README.md", "deploy/capacity.md",
        "deploy/citus.md", "docs/admin.md", "docs/api.md", "docs/architecture.md", "docs/clients/javascript.md",
        "docs/clients/swift.md", "docs/configuration.md", "docs/dialects.md", "docs/openid.md",
        "docs/operations.md", "docs/pages.md", "docs/phones.md", "docs/quickstart.md", "docs/security.md",
    ]

    @Test(arguments: pages) func `links lead to files and headings`(page: String) throws {
        let text = try Self.text(page)
        let folder = Self.root.appending(path: page).deletingLastPathComponent()
        for match in text.matches(of: /\]\((?<path>[^)#\s]*)(#(?<anchor>[^)\s]+))?\)/) {
            let path = String(match.path)
            guard !path.contains("://") else { continue }
            let file = path.isEmpty ? Self.root.appending(path: page) : folder.appending(path: path)
            guard FileManager.default.fileExists(atPath: file.path) else {
                Issue.record("\(page) links to \(path), which does not exist")
                continue
            }
            guard let anchor = match.anchor else { continue }
            let headings = Self.anchors(in: try String(contentsOf: file, encoding: .utf8))
            #expect(headings.contains(String(anchor)), "\(page) links to \(path)#\(anchor)")
        }
    }

    /// The provider guide is left out because it names files that its reader creates.
    @Test(arguments: pages.filter { $0 != "Plugins/README.md" }) func `paths exist`(page: String) throws {
        let paths = try Self.text(page).matches(of: /`((Sources|Plugins|Tests|migrations|docs|deploy)\/[^`\s]*)`/)
            .map { String($0.output.1) }
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(page): \(path)")
        }
    }

    @Test func `tests exist`() throws {
        let tests = try Self.sources(in: "Tests")
        for page in Self.pages {
            let text = try Self.text(page)
            for match in text.matches(of: /`([A-Z]\w*Tests)`/) {
                let suite = "struct \(match.output.1)"
                #expect(tests.contains("\(suite) {") || tests.contains("\(suite):"), "\(page): \(match.output.1)")
            }
            // The last cell of a table's row may name a test by its sentence.
            for match in text.matches(of: /`([a-z]+(?: [a-z]+){3,})` \|\n/) {
                #expect(tests.contains("func `\(match.output.1)`"), "\(page): \(match.output.1)")
            }
        }
    }

    @Test func `the configuration in the page about OpenID is accepted`() throws {
        let block = try Self.text("docs/openid.md").firstMatch(of: /(?s)```yaml\n(.*?)```/)
        let directory = try TemporaryDirectory()
        try directory.write(String(repeating: "s", count: 32), to: "photos.secret")
        let path = try directory.write(Fixture.required + (try #require(block).output.1))
        let configuration = try Configuration.load(path: path, environment: [:], installed: Fixture.installed)
        let club = try #require(configuration.application(named: "club"))
        #expect(club.url == "https://id.example" && club.openID != nil)
    }

    @Test func `the configurations in the page about phones are accepted`() throws {
        let directory = try TemporaryDirectory()
        try directory.write(String(repeating: "s", count: 32), to: "csi.token")
        try directory.write("statement", to: "csi.jwt")
        func load(_ yaml: some StringProtocol) throws -> Configuration {
            let path = try directory.write(Fixture.required + yaml)
            return try Configuration.load(path: path, environment: [:], installed: Fixture.installed)
        }
        func indented(_ block: Substring, by count: Int) -> String {
            block.split(separator: "\n").map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n")
        }
        let blocks = try Self.text("docs/phones.md").matches(of: /(?s)```yaml\n(.*?)```/).map(\.output.1)
        try #require(blocks.count == 3)
        let portal = try load(blocks[0]).application(named: "portal")
        #expect(portal?.openID?.software.keys.contains("CSI") == true)
        let tv = try load("applications:\n  portal:\n    openid:\n      clients:\n\(indented(blocks[1], by: 8))\n")
        #expect(tv.application(named: "portal")?.openID?.clients["tv"]?.grants.contains(.deviceCode) == true)
        let blitz = try load("applications:\n  portal:\n\(indented(blocks[2], by: 4))\n")
        #expect(blitz.application(named: "portal")?.openID?.paths == [.blitz])
    }

    @Test func `the server logs the lines that operations lists`() throws {
        let section = try #require(try Self.text("docs/operations.md").components(separatedBy: "## Log lines").last)
        let rows = section.prefix { $0 != "#" }.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let lines = rows.flatMap { $0.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.output.1) } }
        #expect(lines.count > 10)
        let sources = try Self.sources(in: "Sources")
        for line in lines { #expect(sources.contains("\"\(line)\""), "no source logs \(line)") }
    }

    @Test(arguments: ErrorCode.allCases) func `the page about the API lists each error`(code: ErrorCode) throws {
        let row = try Self.text("docs/api.md").split(separator: "\n").first {
            $0.hasPrefix("| `") && $0.contains("`\(code.rawValue)`")
        }
        #expect(row?.contains(" \(code.status)") == true, "\(row ?? "missing")")
    }

    @Test(arguments: ["deploy/grafana/gatehouse.json", "deploy/prometheus/alerts.yml"])
    func `dashboard and alerts use only metrics of a server`(file: String) throws {
        let series = try Self.listedMetrics().flatMap { name, type in
            type == "histogram" ? ["bucket", "count", "sum"].map { "\(name)_\($0)" } : [name]
        }
        let used = try Self.text(file).matches(of: /gatehouse_[a-z_]+/).map { String($0.output) }
        #expect(used.count > 10)
        #expect(Set(used).subtracting(series) == [])
    }

    @Test func `the dashboard has all metrics`() throws {
        let dashboard = try Self.text("deploy/grafana/gatehouse.json")
        for (name, type) in try Self.listedMetrics() {
            let series = type == "histogram" ? "\(name)_bucket" : name
            #expect(dashboard.contains(series + "{"), "no panel shows \(name)")
        }
    }

    @Test func `operations lists the alerts`() throws {
        let listed = try Self.text("docs/operations.md").matches(of: /\| `(Gatehouse[A-Za-z]+)` \|/).map(\.output.1)
        let declared = try Self.text("deploy/prometheus/alerts.yml").matches(of: /alert: ([A-Za-z]+)/).map(\.output.1)
        #expect(!listed.isEmpty)
        #expect(listed == declared)
    }

    @Test func `make runs each suite that has a long mode`() throws {
        let filters = try Self.text("Makefile").matches(of: /--filter '\((.+)\)Tests'/)
        let run = filters.flatMap { $0.output.1.split(separator: "|").map { "\($0)Tests" } }
        let long = try Self.files(in: "Tests").filter { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            return file.lastPathComponent.hasSuffix("Tests.swift") && text.contains(/[lL]ongMode/)
        }
        #expect(long.count > 10)
        #expect(Set(long.map { $0.deletingPathExtension().lastPathComponent }).subtracting(run) == [])
    }

    @Test func `deliveries that are given up alert`() throws {
        let rules = try Self.text("deploy/prometheus/alerts.yml")
        let counters = try Self.listedMetrics().map(\.name).filter { $0.hasSuffix("_given_up_total") }
        #expect(counters.count > 3)
        for counter in counters { #expect(rules.contains("increase(\(counter)["), "no alert for \(counter)") }
    }

    @Test func `operations lists the metrics of a server`() async throws {
        let listed = try Self.listedMetrics().map { "\($0) \($1)" }
        try await TestServer.with { server in
            let page = try await APIClient(server).send(.GET, "/metrics").text
            let printed = page.matches(of: /# TYPE ([a-z_]+) ([a-z]+)/).map { "\($0.output.1) \($0.output.2)" }
            #expect(Set(listed) == Set(printed))
        }
    }

    /// The names and types of the metrics that operations lists.
    private static func listedMetrics() throws -> [(name: String, type: String)] {
        try text("docs/operations.md").matches(of: /\| `(gatehouse_[a-z_]+)` \| ([a-z]+) \|/)
            .map { (String($0.output.1), String($0.output.2)) }
    }

    private static func text(_ page: String) throws -> String {
        try String(contentsOf: root.appending(path: page), encoding: .utf8)
    }

    /// The anchors that Markdown renderers generate for headings.
    private static func anchors(in text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
            })
    }

    private static func sources(in folder: String) throws -> String {
        try files(in: folder).map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }

    /// The Swift files below a folder.
    private static func files(in folder: String) -> [URL] {
        let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
    }
}
