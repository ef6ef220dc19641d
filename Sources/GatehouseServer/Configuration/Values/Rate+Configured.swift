internal import Accounts

extension Rate {
    private static let units: KeyValuePairs<String, Duration> = [
        "s": .seconds(1), "min": .seconds(60), "h": .seconds(3600), "d": .seconds(86_400),
    ]

    /// As in `5/min`, `3/h`.
    init?(configured text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...1_000_000).contains(count),
            let window = Self.units.first(where: { $0.key == parts[1] })?.value
        else { return nil }
        self.init(count, per: window)
    }
}

extension Expectation<Rate?> {
    /// A rate, or `off`, which is nothing.
    static var rateOrOff: Self {
        .scalar("a rate as in 5/min or 3/h (1 to 1000000 per s, min, h or d), or off") { text in
            text == "off" ? .some(nil) : Rate(configured: text).map { .some($0) }
        }
    }
}
