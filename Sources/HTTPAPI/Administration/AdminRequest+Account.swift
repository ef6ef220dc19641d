internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

extension AdminRequest {
    /// The account, in the form in which acts return it.
    func account(_ uid: UUID) async throws -> MaskedAccountDetail {
        try await services.reading.detail(of: uid, in: application)
    }

    /// The acts of this caller, which keep the last owner of all applications.
    var acts: AccountActs {
        get throws { services.acts.keepingOwners(of: try settings.home, for: administrator) }
    }

    /// Checks the phrase of an act on an account of `home`, or else of the application of the path.
    ///
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.confirmationRequired`.
    func require(
        _ confirm: String?, toBe phrase: String, of uid: UUID, in home: Accounts.Application? = nil
    ) async throws {
        do {
            try AdministrationError.require(confirm, toBe: phrase)
        } catch {
            // An unknown account comes before a wrong phrase.
            _ = try await services.reading.detail(of: uid, in: home ?? application)
            throw error
        }
    }

    /// The act of this caller on the account, with the note of its reason.
    ///
    /// - Throws: `AccountsError.invalidParameter`; `AdministrationError.forbidden` for an administrator's account.
    func act<Body>(_ input: Act<Body>, on uid: UUID) async throws -> AdministrativeAct {
        let act = try act(input)
        try await requireRight(toActOn: uid)
        return act
    }

    /// The act of this caller with the note of its reason.
    func act<Body>(_ input: Act<Body>) throws -> AdministrativeAct {
        AdministrativeAct(by: administrator.actor, because: try input.checkedReason, note: input.note)
    }

    /// The act of this caller on something other than an account, so that a note is refused.
    ///
    /// - Throws: `AccountsError.invalidParameter`.
    func actWithoutNote<Body>(_ input: Act<Body>) throws -> AdministrativeAct {
        act(because: try input.reasonWithoutNote)
    }

    /// Requires the right to grant the account's roles, if it is an administrator's.
    ///
    /// - Throws: `AdministrationError.forbidden`.
    func requireRight(toActOn uid: UUID) async throws {
        try await services.requireRight(of: administrator, toActOn: uid, home: settings.home)
    }

    /// Refuses a body about roles that names another application than the path has, or `all`.
    ///
    /// - Throws: `AccountsError.invalidParameter`.
    func requireOwnApplication(_ on: String?) throws {
        guard let on, !on.hasSameBytes(as: application.name) else { return }
        throw AccountsError.invalidParameter(
            "on",
            reason: "is not the application of the path; the commands gatehouse admin grant and revoke "
                + "change roles for all applications")
    }
}
