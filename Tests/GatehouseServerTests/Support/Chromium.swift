import Foundation
import ProviderKit
import Testing

/// Debian's Chromium without a window, driven by the DevTools protocol over two pipes.
///
/// The issuer of the tests, `http://127.0.0.1:1`, leads to the server, if there is one; all hosts but this machine
/// are unknown.
final class Chromium: Sendable {
    static let path = "/usr/bin/chromium"
    static var isInstalled: Bool { NeededProgram.isExpected(path) }

    private let process: Process
    private let (commands, replies): (Pipe, Pipe)
    private let profile: URL
    /// All calls run here, one after the other, because each blocks until its reply arrives.
    private let queue = DispatchQueue(label: "chromium")
    private let state = State()

    /// The compiler cannot check that it is sendable: it is used on `queue` only.
    private final class State: @unchecked Sendable {
        var (number, session) = (0, String?.none)
        var buffer: [UInt8] = []
        var traffic = BrowserTraffic()
    }

    /// Starts a browser; `ports` are those of `127.0.0.1` that lead to other ones.
    init(_ server: TestServer?, ports: [Int: Int] = [:]) throws {
        profile = FileManager.default.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
        (process, commands, replies) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        let port = server.flatMap { URLComponents(string: $0.url)?.port } ?? 1
        let rules =
            ports.merging([1: port]) { $1 }.map { "MAP 127.0.0.1:\($0) 127.0.0.1:\($1)" }
            + ["MAP 127.0.0.1 127.0.0.1", "MAP localhost 127.0.0.1", "MAP * ~NOTFOUND"]
        let arguments = [
            Self.path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
            "--user-data-dir=\(profile.path)", "--explicitly-allowed-ports=1",
            "--host-resolver-rules=\(rules.joined(separator: ", "))",
            "about:blank",
        ]
        process.arguments = ["-c", #"exec 3<&0 4>&1 </dev/null >/dev/null 2>&1; exec "$@""#, "sh"] + arguments
        process.standardInput = commands
        process.standardOutput = replies
        try process.run()
    }

    /// Opens a tab and runs the body in it.
    static func with(
        _ server: TestServer? = nil, ports: [Int: Int] = [:], _ body: (Chromium) async throws -> Void
    ) async throws {
        let browser = try Chromium(server, ports: ports)
        defer { browser.end() }
        try await browser.openTab()
        try await body(browser)
    }

    /// Opens another tab, in which everything happens from then on.
    func openTab() async throws {
        tab = nil
        try await enter(call("Target.createTarget", ["url": "about:blank"])["targetId"])
    }

    /// Waits for a tab that a link has opened, in which everything happens from then on.
    func enterTab(at place: String) async throws {
        tab = nil
        var target = JSONValue.null
        try await wait("a tab at \(place)") {
            let tabs = try await call("Target.getTargets")["targetInfos"].array ?? []
            target = tabs.first { $0["url"].string?.contains(place) == true }?["targetId"] ?? .null
            return target != .null
        }
        try await enter(target)
    }

    private func enter(_ target: JSONValue) async throws {
        tab = try await call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"].string
        for domain in ["Page", "Log", "Network"] { _ = try await call("\(domain).enable") }
    }

    /// The tab in which everything happens.
    var tab: String? {
        get { queue.sync { state.session } }
        set { queue.sync { state.session = newValue } }
    }

    /// What all tabs have loaded so far.
    var traffic: BrowserTraffic { queue.sync { state.traffic } }
    /// What the browser has blocked in the pages so far, for example by their content security policy.
    var blocked: [String] { traffic.blocked }

    /// Runs no script of the tab's pages from now on; `evaluate` still works.
    func disableScripts() async throws {
        _ = try await call("Emulation.setScriptExecutionDisabled", ["value": true])
    }

    private func end() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: profile)
    }

    // MARK: - The page

    func open(_ url: String) async throws { _ = try await call("Page.navigate", ["url": .string(url)]) }

    /// The address of the tab, also of a page that could not be loaded.
    var address: String {
        get async throws {
            let history = try await call("Page.getNavigationHistory")
            return history["entries"].array?.last?["url"].string ?? ""
        }
    }

    /// The value of an expression, or of its promise; `null` while the page is replaced.
    func evaluate(_ expression: String) async throws -> JSONValue {
        let evaluated = try await call(
            "Runtime.evaluate",
            ["expression": .string(expression), "returnByValue": true, "awaitPromise": true])
        return evaluated["result"]["value"]
    }

    /// Shows HTML in a window of the width, on light or on dark ground, within the document of the tab: scripts that
    /// were evaluated there remain.
    func show(_ html: String, width: Int, dark: Bool) async throws {
        try await setWindow(width: width, dark: dark)
        let frame = try await call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        _ = try await call("Page.setDocumentContent", ["frameId": frame, "html": .string(html)])
    }

    /// Shows pages in a window of the width, on light or on dark ground.
    func setWindow(width: Int, dark: Bool) async throws {
        _ = try await call(
            "Emulation.setDeviceMetricsOverride",
            ["width": .integer(Int64(width)), "height": 800, "deviceScaleFactor": 1, "mobile": false])
        let scheme: JSONValue = ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]
        _ = try await call("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    /// Waits until the page shows a step.
    func wait(for step: String) async throws {
        try await wait(until: "document.querySelector('main')?.dataset.step === '\(step)'")
    }

    /// Waits until the page is complete and the condition, an expression, holds there.
    func wait(until condition: String) async throws {
        try await wait(condition) {
            try await evaluate("document.readyState === 'complete' && !!(\(condition))") == true
        }
    }

    /// Waits until the tab has left for a client, and returns the address there.
    func leave(to redirectURI: String) async throws -> String {
        try await wait("the client") { try await address.hasPrefix(redirectURI) }
        return try await address
    }

    func type(_ text: String, into id: String) async throws {
        _ = try await evaluate("document.getElementById('\(id)').focus()")
        _ = try await call("Input.insertText", ["text": .string(text)])
    }

    func press(_ action: String) async throws {
        _ = try await evaluate("document.querySelector('button[value=\(action)]').click()")
    }

    /// Clicks the first link whose address ends with the text.
    func follow(_ end: String) async throws {
        _ = try await evaluate("document.querySelector('a[href$=\"\(end)\"]').click()")
    }

    func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            guard ContinuousClock.now < deadline else {
                let seen = try await evaluate("(document.body ?? document.documentElement).outerHTML")
                let (blocked, last) = (traffic.blocked, traffic.requests.suffix(4).map(\.url))
                Issue.record("\(what) never came: \(try await address) \(blocked) \(last) \(seen)")
                throw TimeoutError()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    // MARK: - The protocol

    func call(_ method: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try exchange(method, parameters) })
            }
        }
    }

    /// Sends a command and reads until its reply, past the events; each message ends with a null byte.
    private func exchange(_ method: String, _ parameters: JSONValue) throws -> JSONValue {
        state.number += 1
        var command: [String: JSONValue] = [
            "id": .integer(Int64(state.number)), "method": .string(method), "params": parameters,
        ]
        command["sessionId"] = state.session.map { .string($0) }
        try commands.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(JSONValue.object(command)) + [0])
        while true {
            let message = try JSONDecoder().decode(JSONValue.self, from: Data(nextMessage()))
            state.traffic.note(message)
            guard message["id"].integer == Int64(state.number) else { continue }
            return message["result"]
        }
    }

    private func nextMessage() throws -> [UInt8] {
        while true {
            if let end = state.buffer.firstIndex(of: 0) {
                defer { state.buffer.removeFirst(end + 1) }
                return Array(state.buffer[..<end])
            }
            let descriptor = replies.fileHandleForReading.fileDescriptor
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&event, 1, 60_000) == 1 else { throw TimeoutError() }
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { throw TimeoutError() }
            state.buffer += bytes[..<count]
        }
    }
}
