import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// Pastes all that `docs/quickstart.md` prints, in its order, and does what the page suggests.
///
/// The ports 8080 and 3000 may be taken on this machine, so that others take their place: in Chromium by its own rules,
/// which leave the addresses as they are printed, elsewhere in the text.
@Suite(.enabled(if: Chromium.isInstalled, "Debian's package chromium is not installed"))
struct QuickstartTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `everything in the quickstart works as it is printed, within ten minutes`() async throws {
        let blocks = try Self.text("docs/quickstart.md").matches(of: /(?s)```(\w+)\n(.*?)```/)
        try #require(blocks.map(\.output.1) == ["sh", "sh", "html", "sh", "swift", "sh"])
        let printed = blocks.map { String($0.output.2) }
        let start = ContinuousClock.now
        try await ProcessDirectory.with { checkout in
            // The program, built already, stands for the first block.
            #expect(printed[0] == "make run\n")
            #expect(try Self.text("Makefile").contains("\nrun: release\n\t.build/release/gatehouse dev\n"))
            try FileManager.default.createSymbolicLink(
                atPath: checkout.path("Sources"), withDestinationPath: Self.root.appending(path: "Sources").path)
            try await DevelopmentCommandTests().develop(in: checkout) { _, server in
                let made = try await GatehouseProcess.run(
                    ["-c", printed[1] + "pwd"], program: "/bin/sh", in: checkout)
                let folder = ProcessDirectory(url: URL(filePath: String(made.output.dropLast())))
                try folder.write(printed[2], to: "index.html")
                try await serve(folder, by: printed[3]) { pages in
                    let serverPort = try #require(URL(string: server.url)?.port)
                    try await Chromium.with(ports: [8080: serverPort, 3000: pages]) { browser in
                        try await visit(Visitor(browser: browser, inbox: Inbox(server: server)))
                    }
                }
                let program = printed[4].replacing("http://127.0.0.1:8080", with: server.url)
                try folder.write(program, to: "quickstart.swift")
                try await runProgram(in: folder, by: printed[5], Inbox(server: server))
            }
        }
        let elapsed = ContinuousClock.now - start
        #expect(elapsed < .seconds(600), "\(elapsed)")
    }

    /// Runs the body with the port of the web server that the page starts.
    private func serve(
        _ folder: ProcessDirectory, by command: String, _ body: (Int) async throws -> Void
    ) async throws {
        #expect(command.contains(" 3000 "))
        let port = try Port.free()
        let line = "exec " + command.replacing("3000", with: "\(port)")
        try await GatehouseProcess.with(["-c", line], program: "/bin/sh", in: folder) { process in
            let pages = APIClient(url: "http://127.0.0.1:\(port)")
            try await eventually("the page is served") {
                try #require(process.isRunning, "\(process.errors)")
                return (try? await pages.send(.GET, "/").status) == 200
            }
            try await body(port)
        }
    }

    /// What the page suggests to try in the browser.
    private func visit(_ visitor: Visitor) async throws {
        let (browser, address) = (visitor.browser, "ada@example.com")
        try await visitor.open()
        try await visitor.press("guest")
        try await visitor.expect("Hello, guest")
        let account = try await browser.evaluate("document.getElementById('uid').textContent")
        try await visitor.prove(address)
        try await visitor.expect("Hello, \(address)")
        #expect(try await browser.evaluate("document.getElementById('uid').textContent") == account)

        let first = browser.tab
        try await browser.openTab()
        try await visitor.open()
        try await visitor.expect("Hello, \(address)")
        try await visitor.press("leave")
        browser.tab = first
        try await visitor.expect("Hello, stranger")

        try await visitor.prove(address)
        try await visitor.press("delete")
        try await visitor.expect("Hello, stranger")
        try await visitor.prove(address)
        try await visitor.press("restore")
        try await visitor.expect("Hello, \(address)")
        #expect(try await browser.evaluate("document.getElementById('uid').textContent") == account)
    }

    /// Compiles and runs the Swift program, which reads what a person types.
    private func runProgram(in folder: ProcessDirectory, by commands: String, _ inbox: Inbox) async throws {
        let address = "grace@example.com"
        try folder.write(commands, to: "commands")
        let script = """
            { echo \(address); for _ in $(seq 3000); do [ -s code ] && break; sleep 0.1; done; cat code; echo yes; } \
            | sh -e commands
            """
        let environment = ["XDG_DATA_HOME": folder.path("data")]
        try await GatehouseProcess.with(["-c", script], program: "/bin/sh", in: folder, environment: environment) {
            process in
            // The program is being compiled; what it prints to a file comes at its end.
            try await eventually("the program has a code mailed", within: .seconds(280)) {
                try #require(process.isRunning, "\(process.output) \(process.errors)")
                return try await inbox.newCode(to: address) != nil
            }
            try folder.write(try await inbox.code(to: address) + "\n", to: "code")
            let status = try await process.end()
            #expect(status == 0, "\(process.errors)")
            let lines = process.output.split(separator: "\n")
            let uid = try #require(lines.first?.split(separator: " ").last)
            #expect(lines.first == "Welcome, guest \(uid)" && lines.contains("You are \(address) now, \(uid)"))
            #expect(lines.last == "The account is scheduled to be erased", "\(lines)")
        }
    }

    /// The inbox of `gatehouse dev`.
    private final class Inbox {
        private let server: APIClient
        private var used: Set<String> = []

        init(server: APIClient) { self.server = server }

        /// A code that has not been used, if it has arrived.
        func newCode(to address: String) async throws -> String? {
            let inbox = try await server.send(.GET, "/dev/inbox", headers: ["accept": "application/json"])
            let texts = (inbox["messages"].array ?? []).filter { $0["to"].string == address }
            let codes = texts.compactMap { $0["text"].string?.firstMatch(of: /(?m)^([0-9]{6})$/)?.output.1 }
            return codes.map { String($0) }.first { !used.contains($0) }
        }

        /// Waits for a code, and uses it.
        func code(to address: String) async throws -> String {
            var code: String?
            try await eventually("a code for \(address) arrives") {
                code = try await newCode(to: address)
                return code != nil
            }
            let found = try #require(code)
            used.insert(found)
            return found
        }
    }

    /// A person at the page.
    private struct Visitor {
        let browser: Chromium
        let inbox: Inbox

        func open() async throws {
            try await browser.open("http://127.0.0.1:3000")
            try await expect("Hello")
        }

        func expect(_ greeting: String) async throws {
            try await browser.wait(until: "document.getElementById('greeting')?.textContent.startsWith('\(greeting)')")
        }

        /// Presses a button once it is shown.
        func press(_ button: String) async throws {
            try await browser.wait(until: "!document.getElementById('\(button)').hidden")
            _ = try await browser.evaluate("document.getElementById('\(button)').click()")
        }

        /// Has a code mailed to the address, and enters it.
        func prove(_ address: String) async throws {
            try await enter(address, "email", of: "send")
            try await browser.wait(until: "!document.getElementById('answer').hidden")
            try await enter(inbox.code(to: address), "code", of: "answer")
        }

        private func enter(_ text: String, _ field: String, of form: String) async throws {
            let form = "document.getElementById('\(form)')"
            _ = try await browser.evaluate("void (\(form).\(field).value = '\(text)', \(form).requestSubmit())")
        }
    }
}
