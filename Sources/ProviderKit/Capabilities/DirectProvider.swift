/// A provider whose proof is complete in one request: a signed token, an assertion, or for guests no proof.
public protocol DirectProvider: Provider {
    /// The body of `POST /auth/{route}`. The server derives the route and its documentation from this type.
    associatedtype Credential: RequestPayload

    /// The last component of the route's path; `kind` by default.
    static var route: String { get }

    /// Verifies a credential. Network access belongs here, before the server opens a transaction.
    /// - Throws: `ProviderError`.
    func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity
}

extension DirectProvider {
    /// The same as `kind`.
    public static var route: String { kind }
}

/// The credential of a provider that needs none.
public struct NoCredential: RequestPayload {
    /// No fields.
    public static let fields = RequestFields(Self.init)

    /// Creates an empty credential.
    public init() {}
}

/// The parts of a request that a provider may use besides the credential.
public struct RequestOrigin: Sendable {
    /// The address of the TCP peer, regardless of forwarding headers; `nil` if there is none.
    public let peer: String?
    private let header: @Sendable (String) -> [String]

    /// Creates an origin; only the server and tests of a provider need to call this.
    public init(peer: String?, headers: @escaping @Sendable (String) -> [String] = { _ in [] }) {
        self.peer = peer
        header = headers
    }

    /// The values of all header fields with this name, which is not case-sensitive.
    public func headers(_ name: String) -> [String] { header(name) }
}
