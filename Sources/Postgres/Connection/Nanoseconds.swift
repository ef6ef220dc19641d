import Glibc

/// A point in time or a span, as plain nanoseconds so that it fits an atomic and an addition cannot trap.
typealias Nanoseconds = Int64

extension Nanoseconds {
    /// Since boot.
    ///
    /// Time spent suspended counts: a paused virtual machine must not believe itself current.
    static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Self(time.tv_sec) * 1_000_000_000 + Self(time.tv_nsec)
    }

    /// Never; far enough below the largest number that a span can be added.
    static var never: Self { .max / 4 }

    static func milliseconds(_ count: Int64) -> Self { count * 1_000_000 }

    static func seconds(_ count: Int64) -> Self { count * 1_000_000_000 }

    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = seconds.clamped(to: 0...1_000_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension Comparable {
    func clamped(to range: ClosedRange<Self>) -> Self {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

extension Duration {
    /// Rounded up, for settings that count whole milliseconds and read 0 as "no limit".
    var milliseconds: Int64 { max(1, (Nanoseconds(self) + 999_999) / 1_000_000) }
}
