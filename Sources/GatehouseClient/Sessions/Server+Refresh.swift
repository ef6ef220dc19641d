/// The tokens of a refresh, and the lifetime of the access token.
struct AccessResponse: Sendable {
    let pair: TokenPair
    let access: AccessToken
}

extension Server {
    /// Exchanges a refresh token for its successor and an access token.
    ///
    /// If the answer is lost, the same token is sent again, and the server returns the same successor. It ends the session
    /// if the successor was used meanwhile, so the token is sent again only while `isCurrent` holds.
    func renewed(
        with token: GatehouseClient.Secret, repeatedWhile isCurrent: @Sendable () async -> Bool = { true }
    ) async -> Result<AccessResponse, GatehouseError> {
        let call = Call.post("auth", "refresh", body: ["refreshToken": .string(token.value)], access: .open)
            .changed { $0.repetition = .evenIfLate }
        do {
            let answer = try await answer(to: call, repeatedWhile: isCurrent)
            let pair = try answer.decoded(as: TokenPair.self)
            return .success(AccessResponse(pair: pair, access: AccessToken(pair, askedAt: answer.askedAt)))
        } catch {
            return .failure(error)
        }
    }
}

extension GatehouseError.Refusal {
    /// Whether the refusal of a refresh means that the session has ended.
    var endsSession: Bool {
        switch code {
        case .invalidRefreshToken, .invalidToken: status == 401
        case .accountDisabled, .accountDeleted: status == 403
        default: false
        }
    }
}
