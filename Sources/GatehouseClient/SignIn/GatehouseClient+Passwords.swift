extension GatehouseClient {
    /// Registers an address with a password; the server mails a link whose token `verifyEmail` takes.
    ///
    /// The answer is the same if the address already has an account; its owner then receives a notice instead.
    /// - Parameters:
    ///   - email: The address.
    ///   - password: The password of the account.
    ///   - displayName: The name to show.
    /// - Returns: The address in the server's spelling.
    /// - Throws: `refused` with `TOO_WEAK_PASSWORD` and `reasons`, or another failure.
    @discardableResult
    public func register(
        email: String, password: String, displayName: String? = nil
    ) async throws(GatehouseError) -> String {
        let body: [String: JSON?] = [
            "email": .string(email), "password": .string(password), "displayName": displayName.map { .string($0) },
        ]
        return try await value(of: .post("auth", "register", body: body, access: .open), as: MailedResponse.self).email
    }

    /// Verifies the address with the token of the mailed link, and signs in.
    /// - Parameters:
    ///   - token: The mailed token.
    ///   - password: The registered password, if the application requires it.
    ///   - linking: Whether `link` mailed the token: the address is then added to the account that is signed in.
    ///   - remember: As for `signIn`; with `linking` the session stays as long as it was.
    /// - Returns: The new session.
    /// - Throws: `refused` with `INVALID_TOKEN` if the token is used or expired, or another failure.
    @discardableResult
    public func verifyEmail(
        token: String, password: String? = nil, linking: Bool = false, remember: Bool = true
    ) async throws(GatehouseError) -> SignedIn {
        let body: [String: JSON?] = [
            "token": .string(token), "password": password.map { .string($0) },
            "remember": linking || remember ? nil : false,
        ]
        let call = Call.post("auth", "verify-email", body: body, access: linking ? .bearer : .open)
        guard linking else { return try await opened(by: call, isRemembered: remember) }
        let (answer, signIn) = try await reopened(by: call)
        return try await taken(answer, continuing: signIn)
    }

    /// Requests a mail with a link that sets a new password.
    /// - Parameter email: The address. The call succeeds even if the address has no account.
    /// - Throws: `refused` with `RATE_LIMITED`, or another failure.
    public func forgotPassword(email: String) async throws(GatehouseError) {
        try await answer(to: .post("auth", "forgot-password", body: ["email": .string(email)], access: .open))
    }

    /// Sets a new password with the token of the mail of `forgotPassword`; ends every session of the account.
    /// - Parameters:
    ///   - token: The mailed token.
    ///   - password: The new password.
    /// - Throws: `refused` with `INVALID_TOKEN` if the token is used or expired, or with `TOO_WEAK_PASSWORD`; or
    ///   another failure.
    public func resetPassword(token: String, to password: String) async throws(GatehouseError) {
        let body: [String: JSON?] = ["token": .string(token), "newPassword": .string(password)]
        try await answer(to: .post("auth", "reset-password", body: body, access: .open))
    }

    /// Sets a new password and ends the account's other sessions; requires a recent sign-in.
    /// - Parameters:
    ///   - current: The present password; if it is not `nil`, the server checks it.
    ///   - password: The new password.
    /// - Throws: `refused` with `TOO_WEAK_PASSWORD`, `INVALID_CREDENTIALS` or `TOKEN_TOO_OLD`, or another failure.
    public func changePassword(current: String? = nil, to password: String) async throws(GatehouseError) {
        let body: [String: JSON?] = ["currentPassword": current.map { .string($0) }, "password": .string(password)]
        let call = Call.post("auth", "change-password", body: body, access: .bearer)
        try await answer(to: call.changed { $0.method = "PUT" })
    }
}

/// The answer to a registration.
struct MailedResponse: Decodable {
    let email: String
}
