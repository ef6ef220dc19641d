internal import Accounts
internal import Foundation
internal import Postgres

/// The rows of some seeded people, table by table.
struct SeededBatch {
    private let terms: SeededAccounts.Terms
    private let now: Date
    private var accounts = CopyRows()
    private var identities = CopyRows()
    private var addresses = CopyRows()
    private var passwords = CopyRows()
    private var sessions = CopyRows()
    private var tokens = CopyRows()

    init(terms: SeededAccounts.Terms, now: Date) {
        self.terms = terms
        self.now = now
    }

    var count: Int { accounts.count }

    /// In the order in which they refer to each other.
    var tables: [(Statement, CopyRows)] {
        [
            (Self.copyAccounts, accounts), (Self.copyIdentities, identities), (Self.copyAddresses, addresses),
            (Self.copyPasswords, passwords), (Self.copySessions, sessions), (Self.copyTokens, tokens),
        ]
    }

    private static let copyAccounts = Statement(
        .write, "COPY accounts (application_id, uid, display_name, audit_key) FROM STDIN (FORMAT binary)")

    private static let copyIdentities = Statement(
        .write,
        """
        COPY identities (application_id, id, uid, provider, provider_uid, email, email_verified, display_name,
                         last_used_at)
        FROM STDIN (FORMAT binary)
        """)

    private static let copyAddresses = Statement(
        .write, "COPY addresses (application_id, kind, address, uid) FROM STDIN (FORMAT binary)")

    private static let copyPasswords = Statement(
        .write, "COPY passwords (application_id, identity_id, hash) FROM STDIN (FORMAT binary)")

    private static let copySessions = Statement(
        .write,
        """
        COPY sessions (application_id, id, uid, identity_id, methods, device, expires_at) FROM STDIN (FORMAT binary)
        """)

    private static let copyTokens = Statement(
        .write, "COPY refresh_tokens (application_id, hash, session_id, expires_at) FROM STDIN (FORMAT binary)")

    mutating func append(_ person: SeededPerson) {
        let (application, uid, email) = (
            Bind.application(terms.application), Bind.uuid(person.uid), Bind.text(person.email)
        )
        let name = Bind.text(person.displayName)
        accounts.append(application, uid, name, .bytes(SystemRandom.bytes(32)))
        for index in 1...max(1, terms.identitiesPerAccount) {
            let (provider, subject) =
                index == 1 ? (terms.providers.password, person.email) : (terms.providers.other, person.subject(index))
            identities.append(
                application, .uuid(person.identityID(index)), uid, .text(provider), .text(subject), email, .bool(true),
                name, .timestamp(now))
        }
        addresses.append(application, .text("email"), email, uid)
        let (first, session) = (Bind.uuid(person.identityID(1)), Bind.uuid(person.sessionID))
        passwords.append(application, first, .text(terms.password.phc))
        let lifetimes = terms.lifetimes
        let refreshable = min(lifetimes.refreshLifetime, lifetimes.sessionLifetime)
        sessions.append(
            application, session, uid, first, .texts(["pwd"]), .text("gatehouse bench"),
            .timestamp(now + lifetimes.sessionLifetime.seconds))
        tokens.append(
            application, .bytes(terms.token(person).hash), session, .timestamp(now + refreshable.seconds))
    }
}

extension Duration {
    fileprivate var seconds: TimeInterval { self / .seconds(1) }
}
