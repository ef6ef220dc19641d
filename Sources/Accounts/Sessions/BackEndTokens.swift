internal import Foundation
internal import ProviderKit
internal import Synchronization

/// Signs short access tokens, with which a proxy tells an app's own back end whose request it passes on.
///
/// The proxy asks for one with the credentials of each request. The back end verifies the token by the application's
/// published keys, so it trusts a signature and not a header field, which a client could send itself. The token has the
/// form of a client's access token without the scope `account` (RFC 9068), so no call of this server accepts it.
package struct BackEndTokens: Sendable {
    /// The longest time in seconds for which a token is valid.
    static let lifetime = 60
    /// How long a session gets the same token, in seconds, so that most requests need no signature.
    static let reuse = 30

    private let jwts: any ApplicationJWTs
    private let time: any TimeSource
    private let recent: RecentTokens

    /// Keeps the tokens of at least the last `capacity` sessions, and of at most twice as many.
    init(jwts: any ApplicationJWTs, time: any TimeSource, capacity: Int = 10_000) {
        (self.jwts, self.time) = (jwts, time)
        recent = RecentTokens(capacity: capacity)
    }

    /// Returns a token of the principal, whose own token was just checked.
    package func token(for principal: Principal) async throws -> String {
        let now = Int(time.now().timeIntervalSince1970)
        let key = RecentTokens.Key(application: principal.application.id, session: principal.sessionID)
        let caller = Caller(principal)
        // The replica's clock may have been set back.
        func isGood(_ token: RecentTokens.Token) -> Bool {
            token.caller == caller && now >= token.issuedAt && now < token.issuedAt + Self.reuse
                && token.expiresAt >= min(now + Self.reuse, principal.expiresAt)
        }
        if let token = recent.token(of: key, where: isGood) { return token.text }
        let expiresAt = max(now, min(now + Self.lifetime, principal.expiresAt))
        let payload = caller.payload(issuedAt: now, expiresAt: expiresAt, session: principal.sessionID)
        let text = try await jwts.sign(payload, as: .accessToken, for: principal.application)
        let token = RecentTokens.Token(caller: caller, issuedAt: now, expiresAt: expiresAt, text: text)
        return recent.keep(token, of: key, at: now, unless: isGood).text
    }

    /// What the token says about the caller; if it changes, the session gets another token.
    fileprivate struct Caller: Equatable {
        let issuer, audience: String
        let uid: UUID
        let authenticatedAt: Int
        let methods: [String]
        let isBorrowed: Bool
        let elevatedUntil: Int?

        init(_ principal: Principal) {
            (issuer, audience) = (principal.application.issuer, principal.application.audience)
            (uid, authenticatedAt, methods) = (principal.uid, principal.authenticatedAt, principal.methods)
            isBorrowed = principal.isBorrowed
            elevatedUntil = principal.elevatedUntil.map { Int($0.timeIntervalSince1970) }
        }

        /// The client is the application, whose audience is no client's id.
        func payload(issuedAt: Int, expiresAt: Int, session: UUID) -> [UInt8] {
            var writer = JSONObjectWriter()
            writer.add("iss", issuer)
            writer.add("aud", audience)
            writer.add("sub", uid.text)
            writer.add("client_id", audience)
            writer.add("iat", issuedAt)
            writer.add("exp", expiresAt)
            writer.add("jti", UUID.v7().text)
            writer.add("sid", session.text)
            writer.add("auth_time", authenticatedAt)
            writer.add("amr", methods)
            if isBorrowed { writer.add("borrowed", true) }
            if let elevatedUntil { writer.add("elevated_until", elevatedUntil) }
            return writer.finished()
        }
    }
}

/// The last token of each session.
///
/// Two generations limit the number of tokens: when the young one is full, or older than a token is given out again, it
/// replaces the old one.
private final class RecentTokens: Sendable {
    struct Key: Hashable {
        let application: Application.ID
        let session: UUID
    }

    struct Token {
        let caller: BackEndTokens.Caller
        let issuedAt, expiresAt: Int
        let text: String
    }

    private struct Generations {
        var young: [Key: Token] = [:]
        var old: [Key: Token] = [:]
        var began = 0

        func token(of key: Key) -> Token? { young[key] ?? old[key] }

        mutating func age(at time: Int, capacity: Int) {
            guard young.count >= capacity || abs(time - began) >= BackEndTokens.reuse else { return }
            (old, young, began) = (young, [:], time)
        }
    }

    private let generations = Mutex(Generations())
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    func token(of key: Key, where isGood: (Token) -> Bool) -> Token? {
        generations.withLock { $0.token(of: key) }.flatMap { isGood($0) ? $0 : nil }
    }

    /// Keeps a token, unless one was kept meanwhile that is good, which is returned instead.
    func keep(_ token: Token, of key: Key, at time: Int, unless isGood: (Token) -> Bool) -> Token {
        generations.withLock { generations in
            if let other = generations.token(of: key), isGood(other) { return other }
            generations.age(at: time, capacity: capacity)
            generations.young[key] = token
            return token
        }
    }
}
