package import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import ProviderKit

/// What a handler may know of the request that it answers.
package struct OperationContext: Sendable {
    let request: Request
    let context: APIRequestContext
    let scope: RequestScope
    package let client: Client
    /// Set wherever the endpoint asks for a bearer, and where one came unasked.
    let optionalPrincipal: Principal?

    package var application: ServedApplication { scope.application }
    /// `/apps/{application}` where the client used it, else empty.
    package var pathPrefix: String { scope.pathPrefix }
    var parameters: Parameters { context.parameters }
    /// As it stands in the request, undecoded.
    var query: String { request.uri.query ?? "" }
    var headers: HTTPFields { request.headers }

    /// What a provider may look at beside the credential.
    var origin: RequestOrigin {
        RequestOrigin(peer: context.peer?.description) { [headers] name in
            HTTPField.Name(name).map { headers[values: $0] } ?? []
        }
    }

    /// Names the request in whatever it logs.
    var log: Logger { context.log }

    /// - Throws: `AccountsError.invalidToken` on an endpoint that is open to anybody.
    var principal: Principal {
        get throws {
            guard let optionalPrincipal else { throw AccountsError.invalidToken }
            return optionalPrincipal
        }
    }
}
