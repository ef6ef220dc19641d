import Foundation
import Testing

/// Text that is slow to normalise: a letter followed by many unsorted combining marks.
enum CombiningMarks {
    private static let marks: [Unicode.Scalar] = [
        "\u{345}", "\u{35D}", "\u{315}", "\u{301}", "\u{31B}", "\u{316}", "\u{327}", "\u{334}",
    ]

    /// Returns combining marks with that many bytes of UTF-8, two for each mark.
    static func text(bytes: Int = 60_000) -> String {
        var scalars = String.UnicodeScalarView()
        for index in 0..<bytes / 2 { scalars.append(marks[(index * 5 + index / 7) % marks.count]) }
        return String(scalars)
    }

    /// Returns the marks as JSON escapes, which are three times as long.
    static func escaped(bytes: Int = 60_000) -> String {
        text(bytes: bytes / 3).unicodeScalars.map { "\\u0" + String($0.value, radix: 16) }.joined()
    }

    /// Returns the marks percent-encoded, which is three times as long.
    static func percentEncoded(bytes: Int = 60_000) -> String {
        text(bytes: bytes / 3).utf8.map { "%" + String($0, radix: 16) }.joined()
    }
}

extension String {
    /// The first scalars, enough to identify the text; a single `Character` may be as long as the whole text.
    var start: String { String(unicodeScalars.prefix(60)) }
}

/// A limit for the processor time of an operation.
struct ProcessorBudget {
    /// A quarter of the time that hashing such a text takes, which the server must avoid, and at least 20 ms.
    private static let milliseconds: Double = {
        let (text, start) = (CombiningMarks.text(), spent)
        _ = text.hashValue
        return max(20, (spent - start) / 4)
    }()
    private static let tries = 40

    private var exceeded: [String] = []

    /// Measures the cheapest of several tries, because other work of the process counts too.
    ///
    /// The time of `prepare` is not counted.
    mutating func spend<Input>(
        on name: String, preparing prepare: () async throws -> Input, _ body: (Input) async throws -> Void
    ) async rethrows {
        var least = Double.infinity
        for _ in 0..<Self.tries where least >= Self.milliseconds {
            let input = try await prepare()
            let start = Self.spent
            try await body(input)
            least = min(least, Self.spent - start)
        }
        if least >= Self.milliseconds { exceeded.append("\(name): \(Int(least)) ms") }
    }

    mutating func spend(on name: String, _ body: () async throws -> Void) async rethrows {
        try await spend(on: name, preparing: {}, { _ in try await body() })
    }

    func check(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(exceeded.isEmpty, "\(exceeded.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    /// The process's processor time in milliseconds; POSIX defines `clock` in microseconds.
    private static var spent: Double { Double(clock()) / 1000 }
}
