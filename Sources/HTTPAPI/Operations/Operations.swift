internal import Accounts
internal import Hummingbird
internal import Logging
internal import OpenID
internal import ProviderKit

/// All operations, grouped by subject.
struct Operations: Sendable {
    let providers: ProviderOperations
    let passwords: PasswordOperations
    let links: LinkOperations
    let sessions: SessionOperations
    let identities: IdentityOperations
    let accounts: AccountOperations
    let pins: PinOperations

    init(_ useCases: UseCases, openID: OpenIDUseCases) {
        providers = ProviderOperations(useCases: useCases, openID: openID)
        passwords = PasswordOperations(useCases: useCases)
        links = LinkOperations(useCases: useCases)
        sessions = SessionOperations(useCases: useCases)
        identities = IdentityOperations(useCases: useCases)
        accounts = AccountOperations(useCases: useCases)
        pins = PinOperations(useCases: useCases)
    }
}

/// The data of the request that an operation can use besides its input.
struct OperationContext: Sendable {
    let scope: RequestScope
    let client: Client
    /// The caller; `nil` if no access token was sent, or the operation is open.
    let optionalPrincipal: Principal?
    /// The caller of an operation of the admin API; `nil` for other operations.
    let administration: AdministratorSession?
    let request: IncomingRequest
    /// The issuer that the called endpoint belongs to.
    let place: Issuer.Place

    var application: Accounts.Application { scope.application.application }
    var log: Logger { request.context.log }

    /// The client, whose session is short if its request has `remember: false`.
    func client(remembered: Bool?) -> Client {
        var client = client
        client.opensShortSession = remembered == false
        return client
    }

    /// - Throws: `AccountsError.invalidToken` if `optionalPrincipal` is `nil`.
    var principal: Principal {
        get throws {
            guard let optionalPrincipal else { throw AccountsError.invalidToken }
            return optionalPrincipal
        }
    }
}

/// An input whose provider, which selects the rate limit, is known even if the body could not be read.
struct ProviderInput<Body: Sendable>: Sendable {
    let provider: String
    let body: Result<Body, any Error>
}
