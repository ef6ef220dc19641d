internal import Accounts

/// The PIN of the account that is signed in, and the session that it unlocks.
struct PinOperations: Sendable {
    enum Writing: Sendable {
        case set(String, replacing: Bool)
        case change(to: String, showing: PinCode.Proof)
    }

    let useCases: UseCases

    private static let errors: [ErrorCode] = [
        .wrongPIN, .pinNotSet, .existingPIN, .invalidCredentials, .identityTemporarilyLocked,
    ]

    var status: Operation<Void, PinCode.Status> {
        Operation("pin.status", access: .bearer, limits: .none) { context, _ in
            try await useCases.pin.status(of: context.principal)
        }
    }

    /// Sets the first PIN, or replaces one; a password as proof counts as a sign-in.
    var write: Operation<Writing, Void> {
        Operation(
            "pin.write", access: .bearer,
            limits: .chosen { input, _ in
                if case .change(_, showing: .password)? = input() { .login } else { nil }
            }, hashesPassword: { _, _ in true }, errors: Self.errors + [.tokenTooOld]
        ) { context, input in
            try await withOwnPassword {
                switch input {
                case .set(let pin, let replacing):
                    try await useCases.pin.set(
                        pin, replacing: replacing, by: context.principal, from: context.client)
                case .change(let pin, let proof):
                    try await useCases.pin.change(
                        to: pin, showing: proof, by: context.principal, from: context.client)
                }
            }
        }
    }

    var remove: Operation<PinCode.Proof, Void> {
        Operation(
            "pin.remove", access: .bearer,
            limits: .chosen { input, _ in
                if case .password? = input() { .login } else { nil }
            }, hashesPassword: { _, _ in true }, errors: Self.errors
        ) { context, input in
            try await withOwnPassword {
                try await useCases.pin.remove(showing: input, by: context.principal, from: context.client)
            }
        }
    }

    var unlock: Operation<String, Void> {
        Operation(
            "session.unlock", access: .bearer, limits: .general, hashesPassword: { _, _ in true }, errors: Self.errors
        ) { context, pin in
            try await useCases.pin.unlock(with: pin, by: context.principal, from: context.client)
        }
    }

    var lock: Operation<Void, Void> {
        Operation("session.lock", access: .bearer, limits: .general) { context, _ in
            try await useCases.pin.lock(context.principal)
        }
    }
}

/// Runs a call that a client with a valid token makes, and turns a wrong current password into 400.
///
/// Apps of dialects sign the person out at any 401.
func withOwnPassword<Output>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Output
) async throws -> Output {
    do {
        return try await body()
    } catch AccountsError.invalidCredentials {
        throw APIError(.invalidCredentials, "Wrong password", status: 400)
    }
}
