package import Foundation

/// An external system that stores personal data, and its response to a deletion.
package struct Processor: Sendable, Equatable {
    package enum Status: Sendable, Equatable {
        case pending
        case acknowledged(at: Date)
        case unreachable
    }

    /// The name of a webhook, or of a provider whose tokens are revoked.
    package let name: String
    package var status: Status
    /// Whether the status is final.
    package let isSettled: Bool
    package let attempts: Int
    package let isUnderWay: Bool

    package init(name: String, status: Status, isSettled: Bool, attempts: Int, isUnderWay: Bool) {
        (self.name, self.status, self.isSettled) = (name, status, isSettled)
        (self.attempts, self.isUnderWay) = (attempts, isUnderWay)
    }

    package var isAcknowledged: Bool { if case .acknowledged = status { true } else { false } }

    /// The final status, with times reduced to the day.
    var concluded: Processor {
        var processor = self
        processor.status =
            if case .acknowledged(let date) = status { .acknowledged(at: date.wholeDay) } else { .unreachable }
        return processor
    }
}
