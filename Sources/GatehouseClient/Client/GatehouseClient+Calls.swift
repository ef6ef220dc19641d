internal import Foundation

extension GatehouseClient {
    /// Sends a call, with an access token if it needs one.
    ///
    /// If the server refuses the token, the call is repeated once with a renewed token.
    @discardableResult
    func answer(to call: Call) async throws(GatehouseError) -> Answer {
        try await authorized(call) { bearer throws(GatehouseError) in
            try await server.answer(to: call, bearer: bearer)
        }
    }

    func value<Value: Decodable>(
        of call: Call, as type: Value.Type = Value.self
    ) async throws(GatehouseError) -> Value {
        try await answer(to: call).decoded(as: type)
    }

    func authorized<Value>(
        _ call: Call, _ send: (Secret?) async throws(GatehouseError) -> Value
    ) async throws(GatehouseError) -> Value {
        guard call.access == .bearer else { return try await send(nil) }
        let grant = try await keeper.grant()
        do {
            return try await send(grant.token)
        } catch {
            guard let refusal = error.refusal, refusal.code == .invalidToken, refusal.status == 401 else { throw error }
            return try await send(keeper.grant(insteadOf: grant).token)
        }
    }
}
