/// A page in Prometheus' text format, version 0.0.4.
package struct MetricsPage {
    private(set) var text = ""
    private var name = ""

    /// A figure that some part of the server reports when it is asked.
    package struct Gauge: Sendable {
        package let name: String
        /// `gauge`, or `counter` for one that never falls.
        package let type: String
        package let help: String
        package let samples: @Sendable () -> [Sample]
        /// In place of samples.
        let histogram: (@Sendable () -> Histogram)?

        package init(_ name: String, type: String = "gauge", help: String, value: @escaping @Sendable () -> Double) {
            self.init(name, type: type, help: help, samples: { [Sample(value())] })
        }

        /// One figure for each of several things, told apart by their labels.
        package init(
            _ name: String, type: String = "gauge", help: String, samples: @escaping @Sendable () -> [Sample]
        ) {
            self.name = name
            self.type = type
            self.help = help
            self.samples = samples
            histogram = nil
        }

        package init(_ name: String, help: String, histogram: @escaping @Sendable () -> Histogram) {
            self.name = name
            self.help = help
            type = "histogram"
            samples = { [] }
            self.histogram = histogram
        }
    }

    /// A value, and what it is a value of.
    package struct Sample: Sendable {
        package let labels: [(String, String)]
        package let value: Double

        package init(_ value: Double, labels: [(String, String)] = []) {
            self.value = value
            self.labels = labels
        }
    }

    mutating func begin(_ name: String, type: String, help: String) {
        self.name = "gatehouse_" + name
        text += "# HELP \(self.name) \(help)\n# TYPE \(self.name) \(type)\n"
    }

    mutating func add(_ value: Double, suffix: String = "", labels: [(String, String)] = []) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += "\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }

    mutating func add(_ gauge: Gauge) {
        begin(gauge.name, type: gauge.type, help: gauge.help)
        for sample in gauge.samples() { add(sample.value, labels: sample.labels) }
        if let histogram = gauge.histogram { add(histogram()) }
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
