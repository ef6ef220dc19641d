internal import ProviderKit

extension SessionOpeningStore where Self: TransactionalStore & AccountLocks & OwnerContactStore & MessageOutbox {
    /// Opens a session, and notifies the account's owner if it has a session bearer and its device is new.
    ///
    /// A session bearer is not rotated, so a stolen one works until the owner notices its session. A sign-in on a known
    /// device is one statement. On a new device the account is locked first, so that of several sign-ins at once only
    /// one sends the notice.
    ///
    /// All devices are new to an imported account, whose password may have leaked before. A sign-in that creates an
    /// account opens its session by `createAccount`, which sends no notice.
    func open(
        _ session: NewSession, identity: KnownIdentity, password: PasswordPermission? = nil
    ) async throws -> OpenedSession {
        guard session.deviceMark != nil else {
            return try await openSession(session, identity: identity, password: password)
        }
        if let opened = try await openSession(onKnownDevice: session, identity: identity, password: password) {
            return opened
        }
        let application = session.application.id
        return try await transaction { store in
            try await store.lock([identity.uid], session: nil, application: application)
            if let opened = try await store.openSession(
                onKnownDevice: session, identity: identity, password: password)
            {
                return opened
            }
            // Opening the session stores the client's languages; the notice uses those that the owner had before.
            let contact = try await store.contact(of: identity.uid, application: application)
            let opened = try await store.openSession(session, identity: identity, password: password)
            try await OwnerNotices(store: store, application: application).send(
                .newDevice, to: contact, ofOwnerOf: identity.uid, about: session.client.noticed)
            return opened
        }
    }
}

extension Client {
    /// The device in the server's own words, because the client could send a name that misleads the reader.
    fileprivate var noticed: NoticedDevice {
        let told = [device, userAgent].map { UserAgent($0) }
        let words = told.lazy.compactMap { $0.words ?? $0.system ?? $0.device }.first
        return NoticedDevice(words: words, address: address) { _ in nil }
    }
}
