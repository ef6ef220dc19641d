extension GatehouseClient {
    /// A challenge whose code was sent to an address; pass it with the code to `Proof.code(_:of:)`.
    public struct SentCode: Sendable, Hashable {
        /// The kind of provider: `email` or `phone`.
        let kind: String
        /// The provider's name, if several of the kind are configured.
        let provider: String?
        let challengeId: String
        let isBound: Bool
        /// The lifetime of the code.
        public let expiresIn: Duration
        /// The time until a new code can be requested.
        public let resendAfter: Duration
    }

    /// Sends a code to an e-mail address; the address needs no account.
    /// - Parameters:
    ///   - email: The address.
    ///   - purpose: With `.link` and `.reauthenticate`, only the session that requests the code can use it.
    ///   - provider: The provider's name, if several providers of this kind are configured.
    /// - Returns: The challenge, to pass to `Proof.code(_:of:)`.
    /// - Throws: `refused`, for example after too many requests for a code, or another failure.
    public func sendCode(
        toEmail email: String, for purpose: Purpose = .signIn, provider: String? = nil
    ) async throws(GatehouseError) -> SentCode {
        try await sendCode("email", to: email, for: purpose, provider: provider)
    }

    /// Sends a code to a phone number; the number needs no account.
    /// - Parameters:
    ///   - phone: The number (E.164).
    ///   - purpose: With `.link` and `.reauthenticate`, only the session that requests the code can use it.
    ///   - provider: The provider's name, if several providers of this kind are configured.
    /// - Returns: The challenge, to pass to `Proof.code(_:of:)`.
    /// - Throws: `refused`, for example if the application excludes the number's country, or another failure.
    public func sendCode(
        toPhone phone: String, for purpose: Purpose = .signIn, provider: String? = nil
    ) async throws(GatehouseError) -> SentCode {
        try await sendCode("phone", to: phone, for: purpose, provider: provider)
    }

    private func sendCode(
        _ kind: String, to target: String, for purpose: Purpose, provider: String?
    ) async throws(GatehouseError) -> SentCode {
        let call = Call.post(
            "auth", kind, "otp", body: [kind: .string(target), "provider": provider.map { .string($0) }],
            access: purpose == .signIn ? .open : .bearer)
        let sent = try await value(of: call, as: CodeResponse.self)
        return sent.code(of: kind, provider: provider, isBound: purpose != .signIn)
    }
}

/// The answer to every request for a code; times are seconds.
struct CodeResponse: Decodable {
    let challengeId: String
    let expiresIn, resendAfter: Int32

    func code(of kind: String, provider: String?, isBound: Bool) -> GatehouseClient.SentCode {
        GatehouseClient.SentCode(
            kind: kind, provider: provider, challengeId: challengeId, isBound: isBound,
            expiresIn: .seconds(expiresIn), resendAfter: .seconds(resendAfter))
    }
}
