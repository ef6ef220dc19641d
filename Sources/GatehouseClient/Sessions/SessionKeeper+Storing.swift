internal import Foundation

extension SessionKeeper {
    /// The pause after a failure before the session is stored again.
    private static let patience = Duration.seconds(5)

    func storeAgain() {
        if let storeAgainAt, .now >= storeAgainAt { store() }
    }

    /// Stores or removes the session; a failure is reported once.
    func store() {
        var operation = GatehouseError.StorageFailure.Operation.remove
        do {
            if case .signedIn(let held) = state, held.isRemembered {
                operation = .save
                try storage.save(StoredSession(held).data())
            } else {
                try storage.remove()
            }
            if storeAgainAt != nil { listeners.report(.stored) }
            storeAgainAt = nil
            unsaved = []
        } catch {
            if storeAgainAt == nil { listeners.report(.storageFailed(.storage(.init(operation, error)))) }
            storeAgainAt = .now + Self.patience
            if operation == .save { removeOutdated() }
        }
    }

    /// Removes the stored session if its refresh token is older than the present token's predecessor.
    ///
    /// The server accepts the predecessor once more. An older token would end the session, or belong to another person.
    private func removeOutdated() {
        guard case .signedIn(let held) = state else { return }
        unsaved.insert(held.refreshToken)
        if unsaved.count > 1 { try? storage.remove() }
    }
}
