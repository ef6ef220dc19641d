package import Accounts
package import Foundation

/// A mode that an administrator has put over the one in the configuration, for a limited time.
package struct ProviderSwitch: Sendable, Equatable {
    package let id: UUID
    package let provider: String
    package let mode: ProviderMode
    /// The configuration's mode when the switch was made.
    package let fileMode: ProviderMode
    package let since, until: Date
    /// Whether its time is over, though no server has recorded that yet.
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
    /// How long after a switch every server follows it, and the calls that had begun before it have ended.
    static let settled: Duration = longestLag + .seconds(20)

    /// Why the switch ends under the present configuration; `nil` if it stays.
    package func end(under fileMode: ProviderMode?) -> SwitchEnd? {
        if isOver { return .date }
        if fileMode == mode { return .adopted }
        return fileMode == self.fileMode ? nil : .superseded
    }
}

extension ProviderRegistry {
    /// The same providers in the modes of the configuration and of these switches, whatever this server follows so far.
    func following(_ switches: [ProviderSwitch]) -> ProviderRegistry {
        var modes = Dictionary(all.map { ($0.name, $0.declaration.mode) }) { first, _ in first }
        for made in switches where made.end(under: modes[made.provider]) == nil { modes[made.provider] = made.mode }
        return switching(modes)
    }
}

/// Why a switch has ended.
package enum SwitchEnd: String, Sendable {
    /// Its time was over.
    case date
    /// An administrator has ended it.
    case ended
    /// Another switch of the provider has taken its place.
    case replaced
    /// The configuration says another mode than before.
    case superseded
    /// The configuration says the same mode.
    case adopted
}

/// What an administrator wants to be switched.
package struct SwitchRequest: Sendable {
    /// The plan that says what would happen; `nil` if the client has sent no id.
    package let plan: UUID?
    package let confirm: String?
    package let until: Date?
    /// Whether people who will be stranded are told.
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
    /// Two providers may each be the other's remaining way in, so the lock is not one for each provider.
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

    /// Lists the accounts that are to be told, because the change strands them, and those whose sessions end.
    func list(
        accountsOf made: ProviderSwitch, changing change: ModeChange, telling tells: Bool, ending ends: Bool,
        application: Application.ID
    ) async throws

    /// Has the accounts whose sessions end listed once more, that long after the switch.
    func listSessions(
        endedBy made: ProviderSwitch, after pause: Duration, application: Application.ID
    ) async throws

    /// Lists the accounts whose sessions end by switches that are due to be looked at once more.
    func listDueSessions(application: Application.ID) async throws

    /// Some of the accounts that are listed.
    func switchedAccounts(limit: Int, application: Application.ID) async throws -> [SwitchedAccount]

    /// Removes an account from the list.
    /// - Returns: what it is listed for by now; `nil` if another replica has removed it, or the switch has ended.
    func remove(_ account: SwitchedAccount, application: Application.ID) async throws -> SwitchedAccount?

    /// Tells every replica to read the switches again, once the transaction has committed.
    func announceSwitches() async throws
}

/// An account that a switch concerns.
package struct SwitchedAccount: Sendable {
    package let uid: UUID
    package let switchID: UUID
    package let provider: String
    package let until: Date
    package var tellsOwner, endsSessions: Bool

    package init(
        uid: UUID, switchID: UUID, provider: String, until: Date, tellsOwner: Bool, endsSessions: Bool
    ) {
        (self.uid, self.switchID, self.provider, self.until) = (uid, switchID, provider, until)
        (self.tellsOwner, self.endsSessions) = (tellsOwner, endsSessions)
    }
}
