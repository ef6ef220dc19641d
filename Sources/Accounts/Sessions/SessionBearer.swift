package import Foundation

/// A session bearer: `ghs_` and an opaque token.
///
/// It is looked up at each call, so unlike an access token it is refused as soon as its session has ended.
package enum SessionBearer {
    package static let prefix = "ghs_"

    package static func make(by opaque: any OpaqueTokens) -> OpaqueToken {
        let token = opaque.make()
        return OpaqueToken(text: prefix + token.text, hash: token.hash)
    }

    /// Whether a token can only be a session bearer, valid or not; no other token begins like one.
    package static func isForm(of text: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

    /// Returns `nil` if the text does not have the form of a session bearer.
    package static func parse(_ text: String, by opaque: any OpaqueTokens) -> OpaqueToken? {
        guard isForm(of: text), let token = opaque.parse(String(text.dropFirst(prefix.count))) else { return nil }
        return OpaqueToken(text: text, hash: token.hash)
    }
}

/// The live session of a session bearer.
package struct BearerSession: Sendable {
    package var id, uid: UUID
    package var authenticatedAt: Date
    package var methods: [String]
    package var isBorrowed: Bool
    package var createdAt: Date
    /// When the bearer ends unless it is used again.
    package var expiresAt: Date
    /// Until when the person's PIN unlocks the session; `nil` if it does not now.
    package var elevatedUntil: Date?
    /// The identity that opened the session.
    package var provider, providerUid: String

    package init(
        id: UUID, uid: UUID, authenticatedAt: Date, methods: [String], isBorrowed: Bool, createdAt: Date,
        expiresAt: Date, provider: String, providerUid: String
    ) {
        (self.id, self.uid, self.authenticatedAt, self.methods) = (id, uid, authenticatedAt, methods)
        (self.isBorrowed, self.createdAt, self.expiresAt) = (isBorrowed, createdAt, expiresAt)
        (self.provider, self.providerUid) = (provider, providerUid)
    }
}

package protocol SessionBearerStore: Sendable {
    /// The session of a bearer, whose use is written now and then; `nil` unless the bearer, its session and the account
    /// are live.
    func session(ofBearer hash: [UInt8], application: Application.ID) async throws -> BearerSession?
}

extension Principal {
    init(_ session: BearerSession, in application: Application) {
        self.init(
            application: application, uid: session.uid, sessionID: session.id,
            authenticatedAt: Int(session.authenticatedAt.timeIntervalSince1970), provider: session.provider,
            providerUid: session.providerUid)
        (isBorrowed, methods, elevatedUntil) = (session.isBorrowed, session.methods, session.elevatedUntil)
        expiresAt = Int(session.expiresAt.timeIntervalSince1970)
    }
}
