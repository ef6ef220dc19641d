public import Foundation

/// The error that every call of the library throws.
///
/// Its descriptions contain no tokens. Branch on `code`; later versions of the server may add codes.
public enum GatehouseError: Error, Sendable {
    /// The server or a provider's page refused the call.
    case refused(Refusal)
    /// The server could not be reached, or its answer was lost. The session is kept.
    case network(NetworkFailure)
    /// The session could not be stored or read. A session in memory is kept.
    case storage(StorageFailure)
    /// The response does not come from this API, but for example from a proxy. The session is kept.
    case unexpectedAnswer(status: Int, retryAfter: Duration? = nil)
    /// The call needs a session, and there is none.
    case signedOut
    /// The calling task was cancelled.
    case cancelled
}

extension GatehouseError {
    /// Why the server's answer did not arrive.
    public enum NetworkFailure: Error, Sendable, Hashable {
        /// The device has no network.
        case offline
        /// The server cannot be found or refuses connections.
        case unreachable
        /// The connection ended before the answer.
        case connectionLost
        /// The answer took too long.
        case timedOut
        /// No secure connection could be made.
        case insecure
        /// Another failure, with the code of the `URLError`, or 0.
        case other(Int)
    }

    /// Why the session could not be stored or read.
    public struct StorageFailure: Error, Sendable, Hashable {
        /// An operation on the storage.
        public enum Operation: String, Sendable, Hashable {
            /// Reading the stored session.
            case load
            /// Writing the session.
            case save
            /// Removing the session.
            case remove
        }

        /// The operation that failed.
        public let operation: Operation
        /// The domain and code of the system's error, without paths or contents.
        public let reason: String
    }
}

extension GatehouseError {
    /// The stable code, from the server or from the library.
    public var code: Code {
        switch self {
        case .refused(let refusal): refusal.code
        case .network: .networkError
        case .storage: .storageError
        case .unexpectedAnswer: .unexpectedAnswer
        case .signedOut: .signedOut
        case .cancelled: .cancelled
        }
    }

    /// The refusal, if the server refused.
    public var refusal: Refusal? { if case .refused(let refusal) = self { refusal } else { nil } }
    /// The id of the linking rule that refused the call, if one did.
    public var rule: String? { refusal?.rule }
    /// What the person can do, one sentence for each way.
    public var remedies: [String] { refusal?.remedies ?? [] }
    /// How long to wait before the call is repeated, if the server says so.
    public var retryAfter: Duration? {
        switch self {
        case .refused(let refusal): refusal.retryAfter
        case .unexpectedAnswer(_, let retryAfter): retryAfter
        default: nil
        }
    }
}

extension GatehouseError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The code and a sentence, without any token.
    public var description: String { "\(code.rawValue): \(message)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// The sentence alone.
    public var errorDescription: String? { message }

    /// A sentence for developers.
    public var message: String {
        switch self {
        case .refused(let refusal): refusal.message
        case .network(.offline): "There is no network"
        case .network(.unreachable): "The server cannot be reached"
        case .network(.connectionLost): "The connection was lost"
        case .network(.timedOut): "The server did not answer in time"
        case .network(.insecure): "There is no secure connection to the server"
        case .network(.other(let number)): "The network failed (\(number))"
        case .storage(let failure): "The session was not stored: \(failure.operation.rawValue), \(failure.reason)"
        case .unexpectedAnswer(let status, _): "The answer is not one of the account server (status \(status))"
        case .signedOut: "No session: sign in first"
        case .cancelled: "The call was cancelled"
        }
    }
}

// MARK: - Conversion

extension GatehouseError {
    /// Converts the error of a transport.
    init(ofTransport error: any Error) {
        switch error {
        case let error as GatehouseError: self = error
        case let error as NetworkFailure: self = .network(error)
        case is CancellationError: self = .cancelled
        case let error as URLError where error.code == .cancelled: self = .cancelled
        case let error as URLError: self = .network(NetworkFailure(error.code))
        default: self = .network(.other(0))
        }
    }

    /// Converts a response whose status is not 200–299.
    init(status: Int, headers: [String: String], body: Data) {
        let retryAfter = RetryAfter.duration(in: headers)
        guard let envelope = try? JSONDecoder.ofAPI.decode(Refusal.Envelope.self, from: body) else {
            self = .unexpectedAnswer(status: status, retryAfter: retryAfter)
            return
        }
        self = .refused(Refusal(envelope, status: status, retryAfter: retryAfter))
    }
}

extension GatehouseError.NetworkFailure {
    init(_ code: URLError.Code) {
        switch code {
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: self = .offline
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed: self = .unreachable
        case .networkConnectionLost: self = .connectionLost
        case .timedOut: self = .timedOut
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot:
            self = .insecure
        default: self = .other(code.rawValue)
        }
    }
}

extension GatehouseError.StorageFailure {
    init(_ operation: Operation, _ error: any Error) {
        let error = error as NSError
        self.init(operation: operation, reason: "\(error.domain) \(error.code)")
    }
}
