extension Duration {
    /// A century: what is longer is a mistake, and sums with it still don't overflow.
    static let configuredMaximum: Duration = .seconds(36_500 * 86_400)

    /// Whole seconds, or a whole number of `s`, `m`, `h` or `d`.
    init?(configured text: String) {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let factors: [Substring: Int64] = ["": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let count = Int64(digits), let factor = factors[text[digits.endIndex...]] else { return nil }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: factor)
        guard !isTooLong, .seconds(seconds) <= Self.configuredMaximum else { return nil }
        self = .seconds(seconds)
    }

    /// As a file would say it, in the largest unit that fits.
    var configured: String {
        let seconds = components.seconds
        let units: [(String, Int64)] = [("d", 86_400), ("h", 3600), ("m", 60)]
        guard seconds > 0, let (unit, factor) = units.first(where: { seconds.isMultiple(of: $0.1) }) else {
            return "\(seconds)s"
        }
        return "\(seconds / factor)\(unit)"
    }
}
