package import Accounts
package import Foundation

/// Who calls the admin API: a service key, or a person at the console.
package struct Administrator: Sendable {
    package let actor: AdministrativeAct.Actor
    /// The application that the call is about.
    package let application: Application
    package let scopes: Set<AdminScope>
    /// When the key or the session expires.
    package let expiresAt: Date
    /// The person at the console; `nil` for a key.
    package let person: Person?

    package struct Person: Sendable {
        package let uid: UUID
        /// How long ago they have proven who they are.
        package let proofAge: Duration
        /// The applications in which they may grant rights; `nil` stands for all.
        package let grantsOn: Set<Application.ID?>

        package init(uid: UUID, proofAge: Duration, grantsOn: Set<Application.ID?>) {
            (self.uid, self.proofAge, self.grantsOn) = (uid, proofAge, grantsOn)
        }
    }

    package init(
        actor: AdministrativeAct.Actor, application: Application, scopes: Set<AdminScope>, expiresAt: Date,
        person: Person? = nil
    ) {
        (self.actor, self.application, self.scopes, self.expiresAt) = (actor, application, scopes, expiresAt)
        self.person = person
    }

    /// Requires a fresh proof of a person, for an act that matters more than others; a key has none to show.
    ///
    /// - Throws: `AccountsError.tokenTooOld`.
    package func requireProof(within age: Duration) throws {
        guard let person, person.proofAge > age else { return }
        throw AccountsError.tokenTooOld
    }

    /// - Throws: `AdministrationError.forbidden`.
    package func require(_ scope: AdminScope) throws {
        guard scopes.contains(scope) else { throw AdministrationError.forbidden(scope) }
    }

    /// Requires the right to grant in every application where the account, or one that was merged into it, has a role,
    /// because somebody who takes over the account gets its roles.
    ///
    /// `home` is the application of the administrators' accounts; accounts of other applications have no role.
    /// - Throws: `AdministrationError.forbidden`.
    func requireRight(toActOn uid: UUID, home: Application.ID, in store: any AdminGrantStore) async throws {
        guard application.id == home else { return }
        let needed = try await store.applicationsOfGrants(of: uid, home: home)
        let own = person?.grantsOn ?? []
        guard own.contains(nil) || needed.isSubset(of: own) else { throw AdministrationError.forbidden(.writeAdmins) }
    }

    /// The name under which the calls of this administrator are counted.
    package var limitName: String { "administrator \(actor.name)" }
}
