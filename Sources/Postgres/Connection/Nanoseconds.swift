import Glibc

/// A point in time or a duration in nanoseconds, as a plain integer: it fits an atomic, and sums of two don't overflow.
typealias Nanoseconds = Int64

extension Nanoseconds {
    /// The time since boot, including suspension, after which a virtual machine must not consider its state current.
    static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Self(time.tv_sec) * 1_000_000_000 + Self(time.tv_nsec)
    }

    /// A time that is never reached, small enough that adding a duration to it can't overflow.
    static var never: Self { .max / 4 }
    static func milliseconds(_ count: Int64) -> Self { count * 1_000_000 }
    static func seconds(_ count: Int64) -> Self { count * 1_000_000_000 }

    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = seconds.clamped(to: 0...1_000_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension Comparable {
    func clamped(to range: ClosedRange<Self>) -> Self { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}

extension Duration {
    /// The duration in milliseconds, rounded up and at least 1, because PostgreSQL's settings interpret 0 as no limit.
    var milliseconds: Int64 { max(1, (Nanoseconds(self) + 999_999) / 1_000_000) }
}
