internal import Accounts

extension UseCases {
    /// A sign-in as a route answers it, with the ticket of a number that it makes good again.
    func signingIn(
        with ticket: String?, in application: Application, _ signIn: () async throws -> SignedIn
    ) async throws -> SessionResponse {
        SessionResponse(try await tickets.signingIn(with: ticket, in: application, signIn))
    }
}
