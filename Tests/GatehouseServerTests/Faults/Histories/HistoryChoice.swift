import Accounts
import GatehouseTesting
import ProviderKit

/// The next step of a client of a history.
///
/// Every step draws all of its values, needed or not, so that a client's choices do not depend on earlier responses.
struct HistoryChoice {
    enum Action: CaseIterable {
        case signIn, enterAsGuest, link, merge, undo, unlink, delete, restore, refresh

        /// The percentage of steps with this action.
        var weight: Int {
            switch self {
            case .signIn: 22
            case .enterAsGuest: 10
            case .link: 28
            case .merge: 12
            case .undo: 7
            case .unlink: 8
            case .delete: 3
            case .restore: 6
            case .refresh: 4
            }
        }
    }

    private static let actions = Action.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    let action: Action
    let subject: Int
    /// Selects the acting person among those whose sessions the client holds.
    let actor: Int
    let pick: Int
    let onConflict: ConflictChoice
    let survivor: SurvivorChoice?
    let isDryRun: Bool

    init(using generator: inout SeededGenerator) {
        action = Self.actions[Int.random(in: 0..<Self.actions.count, using: &generator)]
        subject = Int.random(in: 0..<HistorySubjects.count, using: &generator)
        actor = Int.random(in: 0..<1000, using: &generator)
        pick = Int.random(in: 0..<1000, using: &generator)
        onConflict = ConflictChoice.allCases[Int.random(in: 0..<3, using: &generator)]
        survivor = [nil, nil, .current, .other][Int.random(in: 0..<4, using: &generator)]
        isDryRun = Int.random(in: 0..<4, using: &generator) == 0
    }
}

/// The people of a history: few, so that their actions collide, and several of them can prove the same addresses.
enum HistorySubjects {
    static let count = 30

    static func evidence(_ index: Int) -> VerifiedIdentity {
        .somebody(
            "subject-\(index)", email: index % 4 == 0 ? nil : "a\(index * 7 % 12)@example.com",
            isVerified: index % 5 != 0, isTrusted: index % 7 != 0)
    }
}
