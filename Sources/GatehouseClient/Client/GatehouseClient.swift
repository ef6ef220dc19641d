public import Foundation

/// A client of an application on an account server: it signs people in and keeps them signed in.
///
/// A client is a handle: its copies share one session. All clients of the process with the same server, application
/// and storage share it, too.
///
/// The library renews the access token when a call needs it, with at most one refresh at a time. A call that is refused
/// with 401 `INVALID_TOKEN` is repeated once with a renewed token. The person is signed out only if the server refuses
/// the refresh itself, or if another process with the same storage signs out. After a failure of the network, of the
/// server or of the storage the session is kept, and `changes` reports the failure.
///
/// The library never reads the wall clock: it measures lifetimes from the moment of the request.
public struct GatehouseClient: Sendable {
    let server: Server
    let keeper: SessionKeeper

    /// Creates a client of an application.
    /// - Parameters:
    ///   - url: The server's public URL, without `/api/v1`.
    ///   - application: The application's name; `nil` for the application that the server serves at this URL.
    ///   - options: Where the session is stored, and how calls are sent.
    public init(url: URL, application: String? = nil, options: Options = Options()) {
        let address = ServerAddress(url: url, application: application)
        let server = Server(address: address, options: options)
        let storage = options.storage ?? PlatformStorage.default(for: address)
        self.server = server
        keeper = SessionKeeper.shared(at: storage.place.map { "\(address.base.absoluteString) \($0)" }) {
            SessionKeeper(server: server, storage: storage, renewsByItself: options.renewsByItself)
        }
    }

    init(server: Server, keeper: SessionKeeper) {
        self.server = server
        self.keeper = keeper
    }
}

extension GatehouseClient: CustomStringConvertible, CustomReflectable {
    /// The URL of the application's API.
    public var description: String { "GatehouseClient of \(server.address.base.absoluteString)" }
    /// A mirror without the session.
    public var customMirror: Mirror { Mirror(self, children: ["url": server.address.base]) }
}

extension GatehouseClient {
    /// How a client stores its session and sends its calls.
    public struct Options: Sendable {
        /// Where the session is stored; `nil` is the Keychain on Apple's systems, and elsewhere a private file.
        public var storage: (any Storage)?
        /// Sends the calls; by default a `URLSession` without cookies, cache or redirects.
        public var transport: any Transport
        /// The device's name in the list of sessions; with `nil` the list shows the user agent.
        public var deviceName: String?
        /// How long an attempt of a call may take.
        public var timeout: Duration
        /// The longest `Retry-After` after which a call is repeated; after a longer one the call fails at once.
        public var longestWait: Duration
        /// Whether the access token is renewed before it expires, even if no call needs it.
        public var renewsByItself: Bool
        /// The pause before the first repetition, unless the server sends `Retry-After`; it doubles each time.
        var firstPause = Duration.milliseconds(200)
        /// Reports revoked sign-ins with Apple; `nil` on systems without Sign in with Apple.
        var appleAccounts = AppleAccounts.ofPlatform

        /// Creates options; each has a default.
        /// - Parameters:
        ///   - storage: Where the session is stored; `nil` is the platform's default.
        ///   - transport: Sends the calls.
        ///   - deviceName: The device's name in the list of sessions.
        ///   - timeout: How long an attempt of a call may take; 30 s by default.
        ///   - longestWait: The longest `Retry-After` after which a call is repeated; 10 s by default.
        ///   - renewsByItself: Whether the access token is renewed before it expires, even if no call needs it.
        public init(
            storage: (any Storage)? = nil, transport: any Transport = URLSessionTransport.shared,
            deviceName: String? = nil, timeout: Duration = .seconds(30), longestWait: Duration = .seconds(10),
            renewsByItself: Bool = false
        ) {
            self.storage = storage
            self.transport = transport
            self.deviceName = deviceName
            self.timeout = timeout
            self.longestWait = longestWait
            self.renewsByItself = renewsByItself
        }
    }
}
