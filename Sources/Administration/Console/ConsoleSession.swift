package import Accounts
package import Foundation
internal import ProviderKit

/// A person's session at the console: a session of the client `gatehouse-console`, and the cookie that stands for it.
package struct ConsoleSession: Sendable {
    /// A role of the person.
    package struct Grant: Sendable {
        package let role: AdminScope.Role
        /// The application that the role is for; `nil` for all.
        package let application: Application.ID?
        /// Whether the role counts in this session, which depends on the identity that opened it (docs/admin.md).
        package let counts: Bool

        package init(role: AdminScope.Role, application: Application.ID?, counts: Bool) {
            (self.role, self.application, self.counts) = (role, application, counts)
        }
    }

    /// SHA-256 of the cookie.
    package let hash: [UInt8]
    /// The session of the client, and the account and identity that it belongs to.
    package let sessionID, uid, identity: UUID
    /// The account's pseudonym in the audit, in hexadecimal.
    package let pseudonym: String
    /// The account's name, or else its first address.
    package let name: String?
    /// How long ago the person has proven who they are.
    package let proofAge: Duration
    /// How they have, by the names of RFC 8176, or as an upstream provider calls its own sign-in.
    package let methods: [String]
    package let provider: String
    package let createdAt, expiresAt: Date
    /// Whether the session was unused for too long, so that the person must prove who they are again.
    package let isIdle: Bool
    package var grants: [Grant] = []

    package init(
        hash: [UInt8], sessionID: UUID, uid: UUID, identity: UUID, pseudonym: String, name: String?,
        proofAge: Duration, methods: [String], provider: String, createdAt: Date, expiresAt: Date, isIdle: Bool
    ) {
        (self.hash, self.sessionID, self.uid, self.identity) = (hash, sessionID, uid, identity)
        (self.pseudonym, self.name, self.proofAge, self.methods) = (pseudonym, name, proofAge, methods)
        (self.provider, self.createdAt, self.expiresAt, self.isIdle) = (provider, createdAt, expiresAt, isIdle)
    }

    /// What pages call the person: their name, or their address, which is masked like those of others.
    package var shownName: String {
        guard let name else { return uid.text }
        if let address = EmailAddress(name) { return Mask.email(address.value) }
        return PhoneNumber(name) == nil ? name : Mask.phone(name)
    }

    /// What the person may do in an application; empty for a person without a role that counts.
    package func scopes(in application: Application.ID) -> Set<AdminScope> {
        grants.filter { $0.counts && ($0.application == nil || $0.application == application) }
            .reduce(into: []) { $0.formUnion($1.role.scopes) }
    }

    /// The person as the caller of an operation on an application; `nil` without a role there.
    package func administrator(of application: Application) -> Administrator? {
        let scopes = scopes(in: application.id)
        guard !scopes.isEmpty else { return nil }
        return Administrator(
            actor: .account(pseudonym: pseudonym), application: application, scopes: scopes, expiresAt: expiresAt,
            person: .init(uid: uid, proofAge: proofAge, grantsOn: grantsOn))
    }

    private var grantsOn: Set<Application.ID?> {
        Set(grants.filter { $0.counts && $0.role.scopes.contains(.writeAdmins) }.map(\.application))
    }
}

/// An identity of an administrator's account.
package struct ConsoleIdentity: Sendable {
    package let id: UUID
    package let provider: String
    /// The address or name that the provider gave, masked.
    package let name: String?
    package let createdAt: Date
    package let lastUsedAt: Date?
    /// Whether the person's roles count in sessions of this identity.
    package let counts: Bool

    package init(
        id: UUID, provider: String, email: String?, phone: String?, displayName: String?, createdAt: Date,
        lastUsedAt: Date?, counts: Bool
    ) {
        name = email.map(Mask.email) ?? phone.map(Mask.phone) ?? displayName.map(Mask.name)
        (self.id, self.provider, self.createdAt, self.lastUsedAt) = (id, provider, createdAt, lastUsedAt)
        self.counts = counts
    }
}

/// The requirements for sessions at the console.
package struct ConsoleSessionRules: Sendable, Equatable {
    /// How long a session may stay unused, and how long it lasts at most.
    package var idle, lifetime: Duration
    /// How old a proof may be for the acts that matter most.
    package var stepUp: Duration
    /// The names of methods (`amr`) of which the proof must have one; empty for any.
    package var requiredMethods: [String]

    package init(idle: Duration, lifetime: Duration, stepUp: Duration, requiredMethods: [String]) {
        (self.idle, self.lifetime) = (idle, lifetime)
        (self.stepUp, self.requiredMethods) = (stepUp, requiredMethods)
    }

    /// Whether the person has signed in to `home` by one of the required methods.
    ///
    /// Methods count where this server has checked the password or code itself. A sign-in by any other provider counts as
    /// `fed`, whatever that provider calls it.
    package func admits(_ session: ConsoleSession, at home: Application) -> Bool {
        guard !requiredMethods.isEmpty else { return true }
        let methods = home.providers[session.provider]?.provesAddress == true ? session.methods : ["fed"]
        return methods.contains { requiredMethods.containsBytes(of: $0) }
    }
}
