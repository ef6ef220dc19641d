package import Accounts
package import Delivery
public import ProviderKit

extension Duration {
    /// The longest duration that can be configured, 36 500 days.
    ///
    /// Longer durations are mistakes. Adding this one to a date does not overflow.
    static let configuredMaximum: Duration = .seconds(36_500 * 86_400)

    /// Parses whole seconds, or a whole number of `s`, `m`, `h` or `d`.
    init?(configured text: String) {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let factors: [Substring: Int64] = ["": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let count = Int64(digits), let factor = factors[text[digits.endIndex...]] else { return nil }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: factor)
        guard !isTooLong, .seconds(seconds) <= Self.configuredMaximum else { return nil }
        self = .seconds(seconds)
    }

    /// The duration in the largest unit that divides it, as it is written in a file.
    var configured: String {
        let seconds = components.seconds
        let units: [(String, Int64)] = [("d", 86_400), ("h", 3600), ("m", 60)]
        guard seconds > 0, let (unit, factor) = units.first(where: { seconds.isMultiple(of: $0.1) }) else {
            return "\(seconds)s"
        }
        return "\(seconds / factor)\(unit)"
    }
}

extension Rate: Decodable {
    private static let units: KeyValuePairs<String, Duration> = [
        "s": .seconds(1), "min": .seconds(60), "h": .seconds(3600), "d": .seconds(86_400),
    ]

    /// Parses a rate such as `5/min` or `3/h`.
    init?(configured text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...1_000_000).contains(count),
            let window = Self.units.first(where: { $0.key == parts[1] })?.value
        else { return nil }
        self.init(count, per: window)
    }

    /// The rate as it is written in a file.
    var configured: String { "\(count)/\(Self.units.first { $0.value == window }?.key ?? window.configured)" }
    package init(from decoder: any Decoder) throws { self = try decoder.parse { Rate(configured: $0) } }
}

extension AddressRange: Decodable {
    /// Decodes an IP address or a range such as `10.0.0.0/8`.
    public init(from decoder: any Decoder) throws { self = try decoder.parse { AddressRange($0) } }
}

extension Mailbox: Decodable {
    package init(from decoder: any Decoder) throws { try self.init(decoder.singleValueContainer().decode(String.self)) }
}

extension SMTPServer: Decodable {
    package init(from decoder: any Decoder) throws {
        try self.init(url: decoder.singleValueContainer().decode(String.self))
    }
}

extension ApplicationPolicy.Switches: Decodable {}
extension AccountEvent.Kind: Decodable {}
extension ApplicationPolicy.AutomaticLinking: Decodable {}

extension Decoder {
    /// Decodes a value from its text.
    func parse<Value>(_ parse: (String) -> Value?) throws -> Value {
        guard let value = parse(try singleValueContainer().decode(String.self)) else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "is not valid"))
        }
        return value
    }
}

/// A value that is hidden in logs, errors and dumps.
package struct Secret: Sendable, Hashable, Decodable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let value: String

    package init(_ value: String) { self.value = value }
    package init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(String.self) }
    package var description: String { "[secret]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
