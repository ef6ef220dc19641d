package import Foundation

/// A system beside ours that holds something of a person, and what it said when told to let go.
package struct Processor: Sendable, Equatable {
    package enum Status: Sendable, Equatable {
        case pending
        case acknowledged(at: Date)
        case unreachable
    }

    /// A webhook's, or a provider's whose tokens are given back.
    package let name: String
    package var status: Status
    /// Nothing will change any more, whoever waits.
    package let isSettled: Bool
    package let attempts: Int
    /// An attempt is being made just now.
    package let isUnderWay: Bool

    package init(name: String, status: Status, isSettled: Bool, attempts: Int, isUnderWay: Bool) {
        self.name = name
        self.status = status
        self.isSettled = isSettled
        self.attempts = attempts
        self.isUnderWay = isUnderWay
    }

    package var isAcknowledged: Bool {
        if case .acknowledged = status { true } else { false }
    }

    /// As it stands once nobody waits for it any longer, to the day.
    var concluded: Processor {
        var processor = self
        processor.status =
            if case .acknowledged(let date) = status { .acknowledged(at: date.wholeDay) } else { .unreachable }
        return processor
    }
}
