package import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import ProviderKit

/// What a handler may know of the request that it answers.
package struct Call: Sendable {
    package let application: ServedApplication
    package let client: Client
    /// Set wherever the endpoint asks for a bearer, and where one came unasked.
    let optionalCaller: Caller?
    /// `/apps/{application}` where the client used it, else empty.
    package let pathPrefix: String
    let parameters: Parameters
    /// As it stands in the request, undecoded.
    let query: String
    let headers: HTTPFields
    private let peer: IPAddress?
    /// Names the request in whatever it logs.
    let logger: Logger

    init(
        application: ServedApplication, client: Client, caller: Caller?, pathPrefix: String, parameters: Parameters,
        query: String, headers: HTTPFields, peer: IPAddress?, logger: Logger
    ) {
        self.application = application
        self.client = client
        optionalCaller = caller
        self.pathPrefix = pathPrefix
        self.parameters = parameters
        self.query = query
        self.headers = headers
        self.peer = peer
        self.logger = logger
    }

    /// What a provider may look at beside the credential.
    var origin: RequestOrigin {
        RequestOrigin(peer: peer?.description) { [headers] name in
            HTTPField.Name(name).map { headers[values: $0] } ?? []
        }
    }

    /// - Throws: `AccountsError.invalidToken` on an endpoint that is open to anybody.
    var caller: Caller {
        get throws {
            guard let optionalCaller else { throw AccountsError.invalidToken }
            return optionalCaller
        }
    }
}
