package import Accounts
internal import Foundation
internal import ProviderKit

/// The script of the page with a code, which waits until a phone looks at the code or answers it.
///
/// Thousands of calls wait at once, each of which keeps a copy of this value; it contains only what a wait needs.
package struct QRCodeWaits: Sendable {
    /// The longest time that a call waits; proxies often close a connection after a minute.
    private static let longestWait: Duration = .seconds(25)

    private let store: any QRCodeStore
    private let waiters: HandoffWaiters
    private let opaque: any OpaqueTokens

    init(store: any QRCodeStore, waiters: HandoffWaiters, opaque: any OpaqueTokens) {
        (self.store, self.waiters, self.opaque) = (store, waiters, opaque)
    }

    /// The state of the request's code, once it differs from the one that the page shows.
    ///
    /// Returns the same state after a time, or when the client has gone. `request` is the request's id, which the URL
    /// contains, and `flow` the browser's cookie of the same request.
    /// - Throws: `AccountsError.qrNotFound` if the browser's request has no code; `.overloaded` if too many pages wait,
    ///   on the server or for this code.
    package func state(
        of request: String, flow: String?, after shown: String?, application: Application.ID,
        connection: ClientConnection?
    ) async throws -> ShownQRCode {
        guard let request = opaque.parse(request)?.hash, let flow = flow.flatMap(opaque.parse)?.hash else {
            throw AccountsError.qrNotFound
        }
        let id = UUID.v8(of: request)
        func read() async throws -> ShownQRCode {
            let code = try await store.qrCode(of: request, browser: flow, application: application)
            guard let code else { throw AccountsError.qrNotFound }
            return code
        }
        // Begins before the state is read, so that no change is missed.
        let wait = waiters.begin(id, application: application)
        defer { wait.map { waiters.end($0, for: id, application: application) } }
        let code = try await read()
        guard let shown, shown.hasSameBytes(as: code.state.rawValue), code.state.canChange else { return code }
        guard let wait else { throw AccountsError.overloaded(retryAfter: .seconds(3)) }
        let isLimited = code.remaining < Self.longestWait
        let limit = isLimited ? code.remaining + .milliseconds(100) : Self.longestWait
        if let connection {
            await connection.withCloseHandler(onClose: wait.wake) { await wait.value(upTo: limit) }
        } else {
            await wait.value(upTo: limit)
        }
        return connection?.isClosed == true || !wait.isWoken && !isLimited ? code : try await read()
    }
}

extension HandoffState {
    /// Whether something can still happen to a code that the page shows.
    fileprivate var canChange: Bool {
        switch self {
        case .waiting, .scanned, .confirmed: true
        case .refused, .used, .expired: false
        }
    }
}
