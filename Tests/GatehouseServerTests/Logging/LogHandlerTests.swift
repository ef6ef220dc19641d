import Foundation
import GatehouseServer
import Logging
import ProviderKit
import Testing

struct LogHandlerTests {
    private let output = CollectedOutput()
    private let now = Date(timeIntervalSince1970: 1_769_860_800.25)

    private func json(_ provider: Logger.MetadataProvider? = nil) -> Logger {
        Logger(label: "gatehouse") { label in
            LineLogHandler(.json, label: label, metadataProvider: provider, output: output, now: { now })
        }
    }

    private func readable(isColoured: Bool = false) -> Logger {
        Logger(label: "gatehouse") { label in
            LineLogHandler(.readable(isColoured: isColoured), label: label, output: output, now: { now })
        }
    }

    private struct Line: Decodable, Equatable {
        var time: String
        var level: String
        var label: String
        var message: String
        var metadata: [String: String]?
    }

    private func line() throws -> Line {
        let line = try #require(output.lines.last)
        #expect(!line.contains { $0.isNewline })
        return try JSONDecoder().decode(Line.self, from: Data(line.utf8))
    }

    @Test func `one object a line, in a fixed order`() {
        json().info("started", metadata: ["port": "8080", "address": "::1"])
        #expect(
            output.lines == [
                #"{"time":"2026-01-31T12:00:00.250Z","level":"info","label":"gatehouse","message":"started","metadata":{"address":"::1","port":"8080"}}"#
            ])
    }

    @Test func `no metadata, no member`() throws {
        json().error("stopped")
        #expect(try line().metadata == nil)
        #expect(try line().level == "error")
    }

    @Test(arguments: [
        "plain", "", "\"},{\"level\":\"info", "back\\slash\\", "two\nlines\r\n\u{85}\u{2028}\u{2029}",
        "\u{0}\u{1}\u{1B}[2J\u{7F}\u{9B}",
        "é 👩‍👩‍👧 \u{10FFFF} e\u{301}", "\\u0022", "\t",
    ])
    func `any text survives in a log line`(text: String) throws {
        json().info("\(text)", metadata: ["\(text)": "\(text)"])
        let line = try line()
        #expect(line.message.unicodeScalars.elementsEqual(text.unicodeScalars))
        #expect(line.metadata == [text: text])
        #expect(output.lines.count == 1)
        let written = try #require(output.lines.first).unicodeScalars
        #expect(!written.contains { $0.properties.generalCategory == .control })
    }

    @Test func `metadata is flat, and the more specific wins`() throws {
        var logger = json(Logger.MetadataProvider { ["a": "provider", "b": "provider", "c": "provider"] })
        logger[metadataKey: "a"] = "logger"
        logger[metadataKey: "d"] = "logger"
        logger.info(
            "x",
            metadata: [
                "c": "event", "request": ["id": "7", "path": ["a", "b"]], "number": .stringConvertible(3),
            ])
        #expect(
            try line().metadata == [
                "a": "provider", "b": "provider", "c": "event", "d": "logger", "request.id": "7", "request.path.0": "a",
                "request.path.1": "b", "number": "3",
            ])
    }

    @Test func `an error is part of the metadata`() throws {
        struct Broken: Error, CustomStringConvertible { let description = "broken" }
        json().error("failed", error: Broken())
        #expect(try line().metadata == ["error": "broken"])
    }

    @Test func `each handler has its own log level`() {
        var logger = json()
        logger.debug("not shown")
        logger.logLevel = .debug
        logger.debug("shown")
        #expect(output.lines.count == 1)
    }

    @Test func `readable lines are short`() {
        readable().warning("slow", metadata: ["ms": "12"])
        #expect(output.lines == ["12:00:00.250 warning  gatehouse: slow  ms=12"])
    }

    @Test func `only the level is coloured, and only on request`() {
        readable(isColoured: true).error("failed")
        #expect(output.lines == ["12:00:00.250 \u{1B}[31;1merror   \u{1B}[0m gatehouse: failed"])
    }

    @Test func `a readable line can't be forged either`() {
        readable().info("a\n12:00:00.250 error", metadata: ["k": "\u{1B}[2J\r\n"])
        #expect(output.lines == [#"12:00:00.250 info     gatehouse: a\n12:00:00.250 error  k=\u001B[2J\r\n"#])
    }
}
