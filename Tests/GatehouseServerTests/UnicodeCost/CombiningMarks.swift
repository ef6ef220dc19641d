import Foundation
import Testing

/// Text that is slow to normalise: a letter under many unsorted combining marks.
enum CombiningMarks {
    private static let marks: [Unicode.Scalar] = [
        "\u{345}", "\u{35D}", "\u{315}", "\u{301}", "\u{31B}", "\u{316}", "\u{327}", "\u{334}",
    ]

    /// Marks of that many bytes of UTF-8, two for each.
    static func text(bytes: Int = 60_000) -> String {
        var scalars = String.UnicodeScalarView()
        for index in 0..<bytes / 2 { scalars.append(marks[(index * 5 + index / 7) % marks.count]) }
        return String(scalars)
    }

    /// The same as escapes of JSON, which are three times as long.
    static func escaped(bytes: Int = 60_000) -> String {
        text(bytes: bytes / 3).unicodeScalars.map { "\\u0" + String($0.value, radix: 16) }.joined()
    }

    /// The same as escapes of a URL, which are three times as long.
    static func percentEncoded(bytes: Int = 60_000) -> String {
        text(bytes: bytes / 3).utf8.map { "%" + String($0, radix: 16) }.joined()
    }
}

extension String {
    /// Enough of it to be told from others: a character may be as long as the text.
    var start: String { String(unicodeScalars.prefix(60)) }
}

/// The processor time that a piece of work may take.
struct ProcessorBudget {
    /// 20 ms; more on a machine where hashing such a text, which is what must not happen, takes over 240 ms.
    private static let milliseconds: Double = {
        let (text, start) = (CombiningMarks.text(), spent)
        _ = text.hashValue
        return max(20, (spent - start) / 12)
    }()
    private static let tries = 8

    private var exceeded: [String] = []

    /// Other work of the process counts too, so that the cheapest of a few tries is what is judged.
    ///
    /// `prepare` is not counted.
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

    /// Processor time of the process, in milliseconds; `clock` counts microseconds (POSIX).
    private static var spent: Double { Double(clock()) / 1000 }
}
