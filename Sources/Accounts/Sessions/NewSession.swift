package import Foundation
package import ProviderKit

/// A session to open; its id and secret are generated before, so that one statement writes it.
package struct NewSession: Sendable {
    package let id = UUID.v7()
    package let application: Application
    /// The configured name of the provider that verified the evidence.
    package let provider: String
    package let evidence: VerifiedIdentity
    package let client: Client
    package let secret: SessionSecret
    /// The keyed hash of the device's name and user agent; `nil` for sessions without a session bearer.
    package var deviceMark: [UInt8]?
    /// The caller's session if the caller re-authenticates; the new session may complete operations that it began.
    package var resumes: UUID?
    /// The session that this one replaces after a merge or a cancelled deletion ended it.
    package var continues: UUID?
    /// Whether another device or an app opens it, so that it never counts as recent until something is proven in it.
    package var isBorrowed = false
    /// Whether the evidence is a proof of the identity; otherwise opening the session does not count as a use of it.
    package var provesIdentity = true
    /// Whether it is opened because an identity was linked.
    var isOfLink = false
    /// The session that requests the link, if the statement that adds the identity has to check that it is live, and
    /// that its account is no guest's.
    package var linkingSession: UUID?
    /// When the person authenticated to the provider; `nil` if that is the current time.
    package var authenticatedAt: Date?
    /// The password that the account gets when it is restored; only a password reset sets it.
    var newPassword: PasswordHash?
    /// Whether evidence of an identity without an account opens one; otherwise that throws `UnknownIdentity`.
    var mayOpenAccount = true

    package init(
        by evidence: VerifiedIdentity, of provider: String, from client: Client, in application: Application,
        secret: SessionSecret
    ) {
        (self.application, self.provider, self.evidence) = (application, provider, evidence)
        (self.client, self.secret) = (client, secret)
    }

    /// Whether opening the session counts as a sign-in.
    package var isSignIn: Bool { provesIdentity && !isBorrowed && !isOfLink }
}
