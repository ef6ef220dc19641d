public import Foundation

/// The authentication calls of Webcom's library for iOS, over `GatehouseClient`.
///
/// All references to one application share its session, as in that library. Callbacks come on the main actor.
public final class WCWebcom: Sendable {
    /// Called with an error, or with who is signed in.
    public typealias OnAuth = @MainActor (_ error: NSError?, _ auth: WCAuth?) -> Void

    /// The client below, for everything that these calls do not cover.
    public let client: GatehouseClient
    private let usesLegacyCodes: Bool

    private static let clients = Locked<[String: GatehouseClient]>([:])

    /// Creates a reference to an application.
    /// - Parameters:
    ///   - url: `<server>/base/<application>`; `nil` is returned for a URL of another form.
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

    /// Creates a reference over a client, whose options may name another storage.
    /// - Parameters:
    ///   - client: The client.
    ///   - usesLegacyCodes: Whether errors have the codes of versions up to 1.3.2.
    public init(client: GatehouseClient, usesLegacyCodes: Bool = false) {
        self.client = client
        self.usesLegacyCodes = usesLegacyCodes
    }

    /// Signs in with an e-mail address and a password.
    ///
    /// - Parameters:
    ///   - mail: The address.
    ///   - password: The password.
    ///   - remember: `false` keeps the session in memory only, and asks the server for a short one.
    ///   - onComplete: Called once, with an error or with who is signed in.
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

    /// Signs out; that the server cannot be told is no error, because the session is forgotten here.
    /// - Parameter callback: Called once, always without an error.
    public func logout(callback: @escaping @MainActor (_ error: NSError?) -> Void) {
        Task {
            // What fails is that the server ends the session at once; without its refresh token it expires.
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
