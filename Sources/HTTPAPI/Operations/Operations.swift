internal import Accounts
internal import Hummingbird
internal import Logging
internal import ProviderKit

/// Every operation, by subject.
struct Operations: Sendable {
    let providers: ProviderOperations
    let passwords: PasswordOperations
    let sessions: SessionOperations
    let identities: IdentityOperations
    let accounts: AccountOperations

    init(_ useCases: UseCases) {
        providers = ProviderOperations(useCases: useCases)
        passwords = PasswordOperations(useCases: useCases)
        sessions = SessionOperations(useCases: useCases)
        identities = IdentityOperations(useCases: useCases)
        accounts = AccountOperations(useCases: useCases)
    }
}

/// What an operation knows of the request besides its input.
struct OperationContext: Sendable {
    let scope: RequestScope
    let client: Client
    /// `nil` if no access token was sent, or the operation is open.
    let optionalPrincipal: Principal?
    let request: IncomingRequest

    var application: Accounts.Application { scope.application.application }
    var log: Logger { request.context.log }

    /// - Throws: `AccountsError.invalidToken` if there is none.
    var principal: Principal {
        get throws {
            guard let optionalPrincipal else { throw AccountsError.invalidToken }
            return optionalPrincipal
        }
    }
}

/// An input whose provider is known even if the rest of the request could not be read: it picks the limit.
struct ProviderInput<Body: Sendable>: Sendable {
    let provider: String
    let body: Result<Body, any Error>
}
