internal import Accounts
internal import Administration
internal import Foundation

extension AdminRequest {
    /// Requires the scope of those who grant rights, if the account is an administrator's.
    ///
    /// - Throws: `AdministrationError.forbidden`.
    func requireRight(toActOn uid: UUID) async throws {
        let home = try settings.home
        guard application.id == home.id, try await services.granted.contains(uid, home: home) else { return }
        try administrator.require(.writeAdmins)
    }
}
