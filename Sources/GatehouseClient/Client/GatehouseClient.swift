public import Foundation

/// Signs people in to an app with an account server, and keeps them signed in.
///
/// A client is a handle; copies share one session, and so do all clients of the process with the same server,
/// application and storage. Calls that need a bearer take an access token from `SessionKeeper`, which renews it with at
/// most one refresh at a time. A call that is refused with 401 `INVALID_TOKEN` is repeated once with a renewed token.
/// Only a refusal of the refresh itself signs the person out; failures of the network, of the server or of the storage
/// keep the session and are reported in `changes`.
///
/// The library never reads the wall clock: lifetimes are measured from the moment of the request.
public struct GatehouseClient: Sendable {
    let server: Server
    let keeper: SessionKeeper

    /// Creates a client of an application.
    /// - Parameters:
    ///   - url: The server's public URL, without `/api/v1`.
    ///   - application: The application's name, or `nil` for the one that the server serves at this URL.
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
        /// Where the session is stored; `nil` is the Keychain where there is one, else a file that only its owner reads.
        public var storage: (any Storage)?
        /// Sends the calls; by default a `URLSession` without cookies, cache and redirects.
        public var transport: any Transport
        /// The device's name in the list of sessions; `nil` shows the user agent.
        public var deviceName: String?
        /// How long a call waits for its answer.
        public var timeout: Duration
        /// The longest `Retry-After` that is waited for; a longer one is thrown at once.
        public var longestWait: Duration
        /// Whether the access token is renewed before it expires even if no call needs it.
        public var renewsByItself: Bool
        /// The pause before a call is repeated for the first time, if the server does not ask for another one; it doubles.
        var firstPause = Duration.milliseconds(200)
        /// Who says that a sign-in with Apple was revoked; `nil` where there is none.
        var appleAccounts = AppleAccounts.ofPlatform

        /// Creates options; each has a default.
        /// - Parameters:
        ///   - storage: Where the session is stored; `nil` is the platform's place.
        ///   - transport: Sends the calls.
        ///   - deviceName: The device's name in the list of sessions.
        ///   - timeout: How long a call waits for its answer; 30 s.
        ///   - longestWait: The longest `Retry-After` that is waited for; 10 s.
        ///   - renewsByItself: Whether the access token is renewed in advance.
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
