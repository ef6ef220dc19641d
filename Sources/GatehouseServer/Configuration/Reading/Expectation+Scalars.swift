import ProviderKit

extension Expectation<String> {
    /// Text of at least one character; a number or a word like `no` is text just as well.
    static var text: Self {
        .scalar("text") { $0.isEmpty ? nil : $0 }
    }

    /// A path, relative to the directory of the configuration file.
    static var path: Self {
        Self { located in Expectation<String>.text.read(located).map(located.reading.absolute) }
    }

    /// PEM text: itself, or the file of that path.
    static var pem: Self {
        let description = "the path of a PEM file"
        return Self { located in
            guard var text = Expectation<String>.scalar(description, { $0.isEmpty ? nil : $0 }).read(located) else {
                return nil
            }
            if !text.hasPrefix("-----BEGIN ") {
                let path = text.hasPrefix("file:") ? String(text.dropFirst("file:".count)) : text
                guard let content = located.reading.content(ofFile: path, at: located.place) else { return nil }
                text = content
            }
            guard text.contains("-----BEGIN ") else {
                located.report(expected: description)
                return nil
            }
            return text
        }
    }
}

extension Expectation<Bool> {
    static var flag: Self {
        .scalar("true or false") { ["true": true, "false": false][$0] }
    }
}

extension Expectation where Value: FixedWidthInteger & Sendable {
    static func integer(_ range: ClosedRange<Value>) -> Self {
        .scalar("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Value(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    static func integer(oneOf values: Value...) -> Self {
        .scalar(anyOf(values)) { text in Value(text).flatMap { values.contains($0) ? $0 : nil } }
    }
}

extension Expectation where Value: RawRepresentable<String> & Equatable {
    static func choice(of values: Value...) -> Self {
        choice(of: values)
    }

    fileprivate static func choice(of values: [Value]) -> Self {
        .scalar(anyOf(values.map(\.rawValue))) { text in values.first { $0.rawValue == text } }
    }
}

extension Expectation where Value: RawRepresentable<String> & Equatable & CaseIterable {
    static var choice: Self { choice(of: Array(Value.allCases)) }
}

extension Expectation<Duration> {
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let bounds = "\(range.lowerBound.configured) to \(range.upperBound.configured)"
        return .scalar("a duration from \(bounds) (whole seconds, or 90s, 5m, 2h, 30d)") { text in
            Duration(configured: text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension Expectation {
    static func anyOf(_ values: [some Any]) -> String {
        values.count == 1 ? "\(values[0])" : "one of \(values.map { "\($0)" }.joined(separator: ", "))"
    }
}

extension Expectation<AddressRange> {
    static var addressRange: Self {
        .scalar("an IP address or a range as in 10.0.0.0/8") { AddressRange($0) }
    }
}
