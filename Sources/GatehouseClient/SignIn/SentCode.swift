extension GatehouseClient {
    /// A code that is on its way to an address; `Proof.code(_:of:)` answers it.
    public struct SentCode: Sendable, Hashable {
        /// The kind of provider: `email` or `phone`.
        let kind: String
        /// The provider's name, if several of the kind are configured.
        let provider: String?
        let challengeId: String
        let isBound: Bool
        /// How long the code is good.
        public let expiresIn: Duration
        /// How long a new code cannot be requested.
        public let resendAfter: Duration
    }

    /// Sends a code to an e-mail address, whether an account has it or not.
    /// - Parameters:
    ///   - email: The address.
    ///   - purpose: For linking or re-authentication only the session that requests the code can answer it.
    ///   - provider: The provider's name, if several of the kind are configured.
    /// - Returns: What the code is answered with.
    /// - Throws: `refused`, for example after too many codes, or another failure.
    public func sendCode(
        toEmail email: String, for purpose: Purpose = .signIn, provider: String? = nil
    ) async throws(GatehouseError) -> SentCode {
        try await sendCode("email", to: email, for: purpose, provider: provider)
    }

    /// Sends a code to a phone number, whether an account has it or not.
    /// - Parameters:
    ///   - phone: The number (E.164).
    ///   - purpose: For linking or re-authentication only the session that requests the code can answer it.
    ///   - provider: The provider's name, if several of the kind are configured.
    /// - Returns: What the code is answered with.
    /// - Throws: `refused`, for example for a country that the application excludes, or another failure.
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
