internal import Accounts
internal import Administration
internal import Foundation

extension AdminRequest {
    /// Requires the right to grant the account's roles, if it is an administrator's.
    ///
    /// - Throws: `AdministrationError.forbidden`.
    func requireRight(toActOn uid: UUID) async throws {
        try await services.requireRight(of: administrator, toActOn: uid, home: settings.home)
    }
}
