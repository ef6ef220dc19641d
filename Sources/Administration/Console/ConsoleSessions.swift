package import Accounts
package import Foundation
package import ProviderKit

/// Opens, finds and ends the sessions of the console.
package struct ConsoleSessions: Sendable {
    /// How long a form waits while the person proves who they are again.
    private static let typedTime: Duration = .seconds(600)

    package typealias Store = AccountLocks & BoundedTransactions & ConsoleSessionStore & SessionEndStore

    let store: any TransactionalStore & Store
    let sealing: any Sealing
    let opaque: any OpaqueTokens

    package init(store: any TransactionalStore & Store, sealing: any Sealing, opaque: any OpaqueTokens) {
        (self.store, self.sealing, self.opaque) = (store, sealing, opaque)
    }

    /// Opens the console session of a client session that has just begun.
    ///
    /// `cookie` is the browser's present one, whose console session goes on if it is live and of the same account. Other
    /// client sessions that the browser had here end.
    /// - Returns: the new cookie.
    package func open(
        _ session: UUID, of uid: UUID, keeping cookie: String?, rules: ConsoleSessionRules, home: Application
    ) async throws -> String {
        let token = opaque.make()
        if let present = cookie.flatMap(opaque.parse) {
            let former = try await store.moveConsoleSession(
                present.hash, to: token.hash, of: session, uid: uid, home: home.id)
            if let former {
                if former != session { try await discard(former, of: uid, home: home) }
                return token.text
            }
            // The browser forgets the cookie, so copies of it must not outlive it.
            let other = try await store.deleteConsoleSession(present.hash, home: home.id)
            if let other, other.session != session { try await discard(other.session, of: other.uid, home: home) }
        }
        try await store.insertConsoleSession(
            token.hash, of: session, uid: uid, lifetime: rules.lifetime, home: home.id)
        return token.text
    }

    /// The session of a cookie; `nil` for one that has ended.
    package func session(
        _ cookie: String?, rules: ConsoleSessionRules, home: Application
    ) async throws -> ConsoleSession? {
        guard let token = cookie.flatMap(opaque.parse) else { return nil }
        return try await store.consoleSession(token.hash, idle: rules.idle, home: home.id)
    }

    /// Ends the session, and the client session behind it.
    package func end(_ session: ConsoleSession, home: Application) async throws {
        try await discard(session.sessionID, of: session.uid, home: home)
        try await store.deleteConsoleSession(session.hash, home: home.id)
    }

    /// Ends a client session that has no console session.
    package func discard(_ session: UUID, of uid: UUID, home: Application) async throws {
        _ = try await store.endSession(session, of: uid, because: .logout, application: home.id)
    }

    /// The identities of the person's account, and whether grants count in their sessions.
    package func identities(in session: ConsoleSession, home: Application) async throws -> [ConsoleIdentity] {
        try await store.consoleIdentities(of: session.uid, prover: session.identity, home: home.id)
    }

    /// Lets the person's grants count in sessions of another identity of their account: those that count in this session.
    package func admit(_ identity: UUID, in session: ConsoleSession, home: Application) async throws -> Bool {
        let act = AdministrativeAct(by: .account(pseudonym: session.pseudonym))
        return try await store.retryingTransaction(within: .administration) { store in
            guard try await store.lockAccount(session.uid, application: home.id) == .live else { return false }
            return try await store.admitIdentity(
                identity, of: session.uid, prover: session.identity, by: act, home: home.id)
        }
    }
}

// MARK: - Forms

extension ConsoleSessions {
    /// The value of a form's field `csrf`, which is good for this session and this path.
    ///
    /// A new proof in one tab changes the cookie, but not the forms of the other tabs.
    package func formToken(for path: String, in session: ConsoleSession) -> String {
        let opened = session.createdAt.timeIntervalSince1970
        return opaque.pseudonym(of: "\(session.uid.text)\n\(opened)\n\(path)", purpose: "form of the console").hex
    }

    package func isFormToken(_ text: String?, for path: String, in session: ConsoleSession) -> Bool {
        ConstantTime.areEqual(Array((text ?? "").utf8), Array(formToken(for: path, in: session).utf8))
    }

    /// Keeps what was typed at a path while the person proves who they are again.
    package func keep(_ form: JSONValue, in session: ConsoleSession, home: Application) async throws {
        let sealed = try sealing.seal(form.bytes, at: typedPlace(of: session, home: home))
        try await store.keepTyped(sealed, for: Self.typedTime, in: session.hash, home: home.id)
    }

    /// Takes out what was kept if `isWanted` accepts it; `nil` otherwise, and for a form that has waited for too long.
    package func takeKept(
        in session: ConsoleSession, home: Application, if isWanted: (_ form: JSONValue) -> Bool
    ) async throws -> JSONValue? {
        guard let sealed = try await store.typed(in: session.hash, home: home.id),
            let opened = try? sealing.open(sealed, at: typedPlace(of: session, home: home)),
            let form = JSONValue(json: opened),
            isWanted(form), try await store.takeTyped(sealed, in: session.hash, home: home.id)
        else { return nil }
        return form
    }
}

// MARK: - Cookies

extension ConsoleSessions {
    /// A value for a cookie that only this server can read, and accepts for some seconds; `purpose` is the cookie's.
    ///
    /// With a session, the value is good in that session alone.
    package func cookie(
        of value: JSONValue, purpose: String, for seconds: Int, in session: ConsoleSession? = nil, home: Application,
        now: Date = Date()
    ) throws -> String {
        let end = Int64(now.timeIntervalSince1970) + Int64(seconds)
        let limited: JSONValue = ["value": value, "end": .integer(end)]
        return try sealing.seal(limited.bytes, at: place(purpose, of: session?.hash ?? [], home: home)).hex
    }

    /// The value of such a cookie; `nil` for another text, and for a cookie whose time is over.
    package func value(
        ofCookie text: String?, purpose: String, in session: ConsoleSession? = nil, home: Application,
        now: Date = Date()
    ) -> JSONValue? {
        guard let bytes = text.flatMap({ [UInt8](hex: $0) }),
            let opened = try? sealing.open(bytes, at: place(purpose, of: session?.hash ?? [], home: home)),
            let limited = JSONValue(json: opened), let end = limited["end"].integer,
            Int64(now.timeIntervalSince1970) < end
        else { return nil }
        return limited["value"]
    }

    /// The account, because a proof gives the session another cookie.
    private func typedPlace(of session: ConsoleSession, home: Application) -> SealingPlace {
        SealingPlace(application: home.id, table: "console_sessions", column: "typed", row: session.uid.text)
    }

    private func place(_ column: String, of hash: [UInt8], home: Application) -> SealingPlace {
        SealingPlace(
            application: home.id, table: "console_sessions", column: column, row: hash.hex)
    }
}

extension JSONValue {
    /// The value as JSON.
    fileprivate var bytes: [UInt8] { get throws { Array(try JSONEncoder.stable.encode(self)) } }
}
