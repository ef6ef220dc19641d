package import Accounts
internal import Hummingbird

/// What a handler may know of the request that it answers.
package struct Call: Sendable {
    package let application: ServedApplication
    package let client: Client
    /// Set wherever the endpoint asks for a bearer.
    private let authenticated: Caller?
    /// `/apps/{application}` where the client used it, else empty.
    package let pathPrefix: String
    let parameters: Parameters
    let headers: HTTPFields

    init(
        application: ServedApplication, client: Client, caller: Caller?, pathPrefix: String, parameters: Parameters,
        headers: HTTPFields
    ) {
        self.application = application
        self.client = client
        authenticated = caller
        self.pathPrefix = pathPrefix
        self.parameters = parameters
        self.headers = headers
    }

    /// - Throws: `AccountsError.invalidToken` on an endpoint that is open to anybody.
    var caller: Caller {
        get throws {
            guard let authenticated else { throw AccountsError.invalidToken }
            return authenticated
        }
    }
}
