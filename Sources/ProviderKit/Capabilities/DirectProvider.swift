/// A provider whose whole proof is in one request: a signed token, an assertion, or nothing at all.
public protocol DirectProvider: Provider {
    /// The body of `POST /auth/{route}`; the route and its documentation are made from this type.
    associatedtype Credential: Decodable & Sendable

    /// The last part of the route's path; the kind, unless it says otherwise.
    static var route: String { get }

    /// Checks the credential. Network access happens here, before anything is locked.
    /// - Throws: `ProviderError`.
    func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity
}

extension DirectProvider {
    /// The kind.
    public static var route: String { kind }
}

/// The credential of a provider that asks for nothing.
public struct NoCredential: Decodable, Sendable {
    /// There is nothing to say.
    public init() {}
}

/// What of a request a provider may look at beside the credential.
public struct RequestOrigin: Sendable {
    /// The address of the TCP peer itself, whatever forwarding headers say; `nil` where there is none.
    public let peer: String?
    private let header: @Sendable (String) -> [String]

    /// Made by the server, and by tests of a provider.
    public init(peer: String?, headers: @escaping @Sendable (String) -> [String] = { _ in [] }) {
        self.peer = peer
        header = headers
    }

    /// Every field of that name, whose case does not matter.
    public func headers(_ name: String) -> [String] { header(name) }
}
