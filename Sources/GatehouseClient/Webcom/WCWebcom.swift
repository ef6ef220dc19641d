public import Foundation

/// The authentication calls of Webcom's library for iOS, over `GatehouseClient`.
///
/// All references to one application share its session, as in Webcom's library. Callbacks run on the main actor.
public final class WCWebcom: Sendable {
    /// A callback that gets either an error or the session.
    public typealias OnAuth = @MainActor (_ error: NSError?, _ auth: WCAuth?) -> Void

    /// The underlying client, for everything that this class does not cover.
    public let client: GatehouseClient
    private let usesLegacyCodes: Bool

    private static let clients = Locked<[String: GatehouseClient]>([:])

    /// Creates a reference to an application.
    /// - Parameters:
    ///   - url: `<server>/base/<application>`; for a URL of another form the result is `nil`.
    ///   - usesLegacyCodes: Whether errors have the codes of versions up to 1.3.2.
    public convenience init?(url: String, usesLegacyCodes: Bool = false) {
        guard let place = WebcomPlace(url) else { return nil }
        let client = Self.clients.withLock { clients in
            if let client = clients[url] { return client }
            let options = GatehouseClient.Options(renewsByItself: true)
            let client = GatehouseClient(url: place.server, application: place.application, options: options)
            clients[url] = client
            return client
        }
        self.init(client: client, usesLegacyCodes: usesLegacyCodes)
    }

    /// Creates a reference from a client, for example one with another storage.
    /// - Parameters:
    ///   - client: The client.
    ///   - usesLegacyCodes: Whether errors have the codes of versions up to 1.3.2.
    public init(client: GatehouseClient, usesLegacyCodes: Bool = false) {
        self.client = client
        self.usesLegacyCodes = usesLegacyCodes
    }

    /// Signs in with an e-mail address and a password.
    /// - Parameters:
    ///   - mail: The address.
    ///   - password: The password.
    ///   - remember: `false` keeps the session in memory only, and requests a short session from the server.
    ///   - onComplete: Called once, with either an error or the session.
    public func auth(
        withMail mail: String, andPassword password: String, andRememberMe remember: Bool,
        onComplete: @escaping OnAuth
    ) {
        Task { await signIn(.password(email: mail, password: password), remember: remember, onComplete) }
    }

    private func signIn(
        _ proof: GatehouseClient.Proof, remember: Bool, _ onComplete: @escaping OnAuth
    ) async {
        do {
            let signedIn = try await client.signIn(proof, remember: remember)
            await onComplete(nil, WCAuth(signedIn.session, keeper: client.keeper))
        } catch {
            await onComplete(NSError(error, usesLegacyCodes: usesLegacyCodes), nil)
        }
    }

    /// Signs out on this device, even if the server cannot be reached.
    /// - Parameter callback: Called once, always without an error.
    public func logout(callback: @escaping @MainActor (_ error: NSError?) -> Void) {
        Task {
            // If the server cannot be reached, the session expires there: its refresh token is removed here.
            try? await client.signOut()
            await callback(nil)
        }
    }
}

/// The server and the application in a Webcom URL.
struct WebcomPlace {
    let server: URL
    let application: String

    init?(_ text: String) {
        guard let url = URL(string: text), ["https", "http"].contains(url.scheme), url.host() != nil,
            url.query() == nil, url.fragment() == nil
        else { return nil }
        let segments = url.pathComponents.filter { $0 != "/" }
        guard segments.count >= 2, segments[segments.count - 2] == "base" else { return nil }
        server = url.deletingLastPathComponent().deletingLastPathComponent()
        application = segments[segments.count - 1]
    }
}
