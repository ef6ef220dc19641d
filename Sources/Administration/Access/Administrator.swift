package import Accounts
package import Foundation

/// Who calls the admin API: a service key, or a person at the console.
package struct Administrator: Sendable {
    package let actor: AdministrativeAct.Actor
    /// The application that the call is about.
    package let application: Application
    package let scopes: Set<AdminScope>
    /// When the key expires.
    package let expiresAt: Date

    package init(actor: AdministrativeAct.Actor, application: Application, scopes: Set<AdminScope>, expiresAt: Date) {
        (self.actor, self.application, self.scopes, self.expiresAt) = (actor, application, scopes, expiresAt)
    }

    /// - Throws: `AdministrationError.forbidden`.
    package func require(_ scope: AdminScope) throws {
        guard scopes.contains(scope) else { throw AdministrationError.forbidden(scope) }
    }

    /// The name under which the calls of this administrator are counted.
    package var limitName: String { "administrator \(actor.name)" }
}
