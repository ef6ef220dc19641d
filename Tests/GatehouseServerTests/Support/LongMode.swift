import Foundation
import Testing

/// Whether `GATEHOUSE_LONG_TESTS` is 1, as in `make faults` and `make long`: tests that take minutes run, and others run for longer.
let isLongMode = ProcessInfo.processInfo.environment["GATEHOUSE_LONG_TESTS"] == "1"

extension Trait where Self == ConditionTrait {
    /// Skips the test unless it runs in the long mode.
    static var longMode: Self { .enabled(if: isLongMode, "runs only with GATEHOUSE_LONG_TESTS=1") }
}
