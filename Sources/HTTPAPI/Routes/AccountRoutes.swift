internal import ProviderKit
internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// What people see and change of their account, and leaving.
struct AccountRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] {
        [me, changeMe, delete, restore, erasure]
    }

    private var me: Endpoint {
        .get("/auth/me", "The account that is signed in", access: .bearer, answers: UserPayload.self) { context in
            UserPayload(try await useCases.profile.user(of: context.principal))
        }
    }

    private var changeMe: Endpoint {
        .post(
            "/auth/me", "Changes the display name or replaces the metadata", access: .bearer, method: .patch,
            takes: UserChanges.self, answers: UserPayload.self
        ) { context, body in
            UserPayload(
                try await useCases.profile.update(
                    displayName: body.displayName, metadata: body.metadata, of: context.principal))
        }
    }

    private var delete: Endpoint {
        .delete(
            "/auth/account", "Ends every session and starts the grace period of deletion", access: .recent,
            headers: ["Location": "Where anybody who has it can see how far the deletion is."]
        ) { context in
            let receipt = try await useCases.deletion.request(by: context.principal)
            return [.location: "\(context.pathPrefix)\(base)/erasures/\(receipt.text)"]
        }
    }

    private var restore: Endpoint {
        .post(
            "/auth/account/restore", "Brings an account back that is in its grace period",
            takes: RestoreBody.self, answers: SessionResponse.self,
            errors: [.invalidToken, .accountDisabled, .providerDisabled, .unsupportedProvider, .secondProofRequired]
        ) { context, body in
            SessionResponse(
                try await useCases.deletion.restore(
                    with: body.restoreToken, from: context.client, in: context.application.application))
        }
    }

    private var erasure: Endpoint {
        .get("/erasures/{receipt}", "How far a deletion is", answers: ErasureResponse.self, errors: [.notFound]) {
            context in
            guard let receipt = context.parameters.get("receipt", as: UUID.self) else {
                throw AccountsError.receiptNotFound
            }
            return ErasureResponse(
                try await useCases.deletion.status(of: receipt, in: context.application.application))
        }
    }
}
