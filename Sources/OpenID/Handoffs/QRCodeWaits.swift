package import Accounts
internal import Foundation
internal import ProviderKit

/// The script of the page with a code, which waits until a phone looks at the code or answers it.
extension RequestSteps {
    /// The longest time that a call waits; proxies often close a connection after a minute.
    private static let longestWait: Duration = .seconds(25)

    /// The state of the request's code, once it differs from the one that the page shows.
    ///
    /// Returns the same state after a time, or when the client has gone.
    /// - Throws: `AccountsError.qrNotFound` if the browser's request has no code; `.overloaded` if too many pages wait.
    package func qrCode(
        _ visit: Visit, after shown: String?, connection: ClientConnection?
    ) async throws -> ShownQRCode {
        guard let request = opaque.parse(visit.request)?.hash,
            let flow = visit.browser.flow.flatMap(opaque.parse)
        else { throw AccountsError.qrNotFound }
        let (id, application) = (UUID.v8(of: request), visit.issuer.application.id)
        func read() async throws -> ShownQRCode {
            let code = try await qrCodes.store.qrCode(of: request, browser: flow.hash, application: application)
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
