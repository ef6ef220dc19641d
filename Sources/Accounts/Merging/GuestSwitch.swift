internal import Foundation

/// Gives up a guest's account for another one, which the transaction has locked as well.
struct GuestSwitch: Sendable {
    typealias Store = DeletionScheduling.Store & GuestSuccessorStore

    let store: any Store
    let application: Application

    /// Ends the guest's sessions and deletes its account; its access token can repeat the link for a minute.
    func move(_ guest: Principal, to uid: UUID) async throws {
        try await store.endSessions(.all, of: guest.uid, because: .guestSwitched, application: application.id)
        try await DeletionScheduling(store: store, application: application)
            .schedule(guest.uid, by: .guestSwitched, gracePeriod: .seconds(60))
        try await store.note(successor: uid, ofGuest: guest.sessionID, application: application.id)
    }
}
