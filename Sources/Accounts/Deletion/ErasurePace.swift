internal import Foundation
internal import Synchronization

/// Decides how long the purge rests after each erasure, so that sign-ins do not become slower.
///
/// The measure is how long the single statements of this server wait for their answers. If more of those that an
/// erasure may have delayed take long than of the others, the rests become longer; otherwise they become shorter, until
/// a rest is as long as the erasure was.
package final class ErasurePace: Sendable {
    private struct State {
        /// The counts at the last call.
        var counts: [Int] = []
        /// The statements that no erasure delayed, by their waits; older ones count less.
        var usual: [Double] = []
        /// The length of a rest, as a multiple of the length of the erasure.
        var factor = 1.0
    }

    /// A slow statement multiplies the factor by `growth`, and every statement multiplies it by `decline`.
    ///
    /// The factor stays the same at 1 slow statement in 224; with those that are slow without erasures, that is less than
    /// 1 in 100.
    private static let (growth, decline) = (1.25, 0.999)
    private static let greatestFactor = 100.0
    /// A purge erases at least one account in about a second, so that it is not postponed without limit.
    private static let longestRest: Duration = .seconds(1)
    /// The number of statements after which the usual duration is known, and the most that are remembered.
    private static let (fewest, most) = (200.0, 20_000.0)

    private let waits: @Sendable () -> [Int]
    private let state = Mutex(State())

    /// `waits` counts all answered statements by classes of waiting times, each √2 times as long as the one before.
    package init(waits: @escaping @Sendable () -> [Int]) { self.waits = waits }

    /// Notes that no erasure delayed the statements that were answered since the last call.
    package func noteUndisturbed() {
        note { counts, state in
            state.usual = zip(counts, state.usual).map { Double($0) + $1 }
            if state.usual.reduce(0, +) > Self.most { state.usual = state.usual.map { $0 / 2 } }
        }
    }

    /// Notes that an erasure may have delayed the statements that were answered since the last call.
    package func noteDisturbed() {
        note { counts, state in
            guard let limit = Self.firstSlowClass(amongUsual: state.usual) else { return }
            let usualShare = state.usual.dropFirst(limit).reduce(0, +) / state.usual.reduce(0, +)
            let slow = Double(counts.dropFirst(limit).reduce(0, +)) - usualShare * Double(counts.reduce(0, +))
            state.factor = min(state.factor * pow(Self.growth, max(slow, 0)), Self.greatestFactor)
        }
    }

    /// The rest after an erasure that took this long.
    package func rest(after erasure: Duration) -> Duration {
        min(erasure * state.withLock(\.factor), Self.longestRest)
    }

    private func note(_ body: (_ new: [Int], inout State) -> Void) {
        let counts = waits()
        state.withLock { state in
            if state.counts.isEmpty {
                state.counts = counts.map { _ in 0 }
                state.usual = counts.map { _ in 0 }
            }
            let new = zip(counts, state.counts).map { $0 - $1 }
            state.counts = counts
            body(new, &state)
            state.factor = max(state.factor * pow(Self.decline, Double(new.reduce(0, +))), 1)
        }
    }

    /// The first class of waits that are longer than those of 99 in 100 usual statements by at least a factor of √2;
    /// `nil` if too few statements are known.
    private static func firstSlowClass(amongUsual usual: [Double]) -> Int? {
        let total = usual.reduce(0, +)
        guard total >= fewest else { return nil }
        var longer = total
        for (index, count) in usual.enumerated() {
            longer -= count
            if longer <= total / 100 { return index + 2 }
        }
        return nil
    }
}
