package import Accounts
package import Foundation

/// A mode that an administrator has set instead of the configured one, for a limited time.
package struct ProviderSwitch: Sendable, Equatable {
    package let id: UUID
    package let provider: String
    package let mode: ProviderMode
    /// The configuration's mode when the switch was made.
    package let fileMode: ProviderMode
    package let since, until: Date
    /// Whether the switch has expired but no server has recorded that yet.
    package let isOver: Bool

    package init(
        id: UUID, provider: String, mode: ProviderMode, fileMode: ProviderMode, since: Date, until: Date,
        isOver: Bool = false
    ) {
        (self.id, self.provider, self.mode, self.fileMode) = (id, provider, mode, fileMode)
        (self.since, self.until, self.isOver) = (since, until, isOver)
    }

    /// How long a server that has missed a notification may take to follow.
    package static let longestLag: Duration = .seconds(10)
    /// The time after which every server follows a switch and the calls that began before it have ended.
    static let settled: Duration = longestLag + .seconds(20)

    /// Why the switch ends under the present configuration; `nil` if it stays.
    package func end(under fileMode: ProviderMode?) -> SwitchEnd? {
        if isOver { return .date }
        if fileMode == mode { return .adopted }
        return fileMode == self.fileMode ? nil : .superseded
    }
}

extension ProviderRegistry {
    /// The same providers in the modes of the configuration and these switches, even if this server still uses others.
    func following(_ switches: [ProviderSwitch]) -> ProviderRegistry {
        var modes = Dictionary(all.map { ($0.name, $0.declaration.mode) }) { first, _ in first }
        for made in switches where made.end(under: modes[made.provider]) == nil { modes[made.provider] = made.mode }
        return switching(modes)
    }
}

/// Why a switch has ended.
package enum SwitchEnd: String, Sendable {
    /// It expired.
    case date
    /// An administrator has ended it.
    case ended
    /// Another switch of the provider has taken its place.
    case replaced
    /// The mode in the configuration was changed.
    case superseded
    /// The configuration was changed to the mode of the switch. What is left of the switch's work is still done.
    case adopted
}

/// An administrator's request to switch the mode of a provider.
package struct SwitchRequest: Sendable {
    /// The plan of the switch; `nil` if the client sent no id.
    package let plan: UUID?
    package let confirm: String?
    package let until: Date?
    /// Whether people who can no longer sign in get a message.
    package let notifies: Bool
    /// Whether the sessions that the provider has opened end.
    package let endsSessions: Bool

    package init(plan: UUID?, confirm: String?, until: Date?, notifies: Bool, endsSessions: Bool) {
        (self.plan, self.confirm, self.until) = (plan, confirm, until)
        (self.notifies, self.endsSessions) = (notifies, endsSessions)
    }

    package static let standardLifetime: TimeInterval = 7 * 86_400
    package static let longestLifetime: TimeInterval = 30 * 86_400
}

package protocol ProviderSwitchStore: Sendable {
    /// Keeps other transactions from switching a provider of the application, without waiting.
    ///
    /// One lock covers all providers of the application, because each of two may be the last way in besides the other.
    /// - Returns: `false` if another one is switching.
    func lockSwitches(of application: Application.ID) async throws -> Bool

    /// The application's switches that have not ended.
    func switches(of application: Application.ID) async throws -> [ProviderSwitch]

    /// Stores a switch, and records the act with its effect and the mode before it.
    func insert(
        _ made: ProviderSwitch, from mode: ProviderMode, details: ModeEffect, by act: AdministrativeAct,
        application: Application.ID
    ) async throws -> ProviderSwitch

    /// Ends a switch that is in force, and records that; `act` is `nil` if no administrator has ended it.
    /// - Returns: `false` if it has ended already.
    func end(
        _ made: ProviderSwitch, because reason: SwitchEnd, by act: AdministrativeAct?, application: Application.ID
    ) async throws -> Bool

    /// Lists the accounts that get a message because they can no longer sign in, and those whose sessions end.
    func list(
        accountsOf made: ProviderSwitch, changing change: ModeChange, telling tells: Bool, ending ends: Bool,
        application: Application.ID
    ) async throws

    /// Gives what is left of a switch's work to the one that replaces it: people to tell, and sessions to end.
    /// - Returns: whether the second listing of accounts whose sessions end was still to come.
    func handOver(from last: ProviderSwitch, to next: ProviderSwitch, application: Application.ID) async throws -> Bool

    /// Schedules a second listing of the accounts whose sessions end, `pause` after the switch.
    func listSessions(
        endedBy made: ProviderSwitch, after pause: Duration, application: Application.ID
    ) async throws

    /// The switches whose second listing is due.
    func dueListings(application: Application.ID) async throws -> [UUID]

    /// Lists the accounts whose sessions such a switch ends, which takes long.
    func listSessions(endedBy made: UUID, application: Application.ID) async throws

    /// Some of the accounts that are listed.
    func switchedAccounts(limit: Int, application: Application.ID) async throws -> [SwitchedAccount]

    /// Removes an account from the list.
    /// - Returns: The account with its present tasks; `nil` if another replica removed it, or the switch has ended and was
    ///   not adopted.
    func remove(_ account: SwitchedAccount, application: Application.ID) async throws -> SwitchedAccount?

    /// Tells every replica to read the switches again, once the transaction has committed.
    func announceSwitches() async throws
}

/// An account that a switch concerns.
package struct SwitchedAccount: Sendable {
    package let uid: UUID
    package let switchID: UUID
    package let provider: String
    /// `nil` once the configuration has the mode itself.
    package let until: Date?
    package var tellsOwner, endsSessions: Bool

    package init(
        uid: UUID, switchID: UUID, provider: String, until: Date?, tellsOwner: Bool, endsSessions: Bool
    ) {
        (self.uid, self.switchID, self.provider, self.until) = (uid, switchID, provider, until)
        (self.tellsOwner, self.endsSessions) = (tellsOwner, endsSessions)
    }
}
