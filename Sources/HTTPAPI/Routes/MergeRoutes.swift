internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Two accounts of one person become one, and part again.
struct MergeRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] {
        [merge, merges, undo]
    }

    private var merge: Endpoint {
        Endpoint(
            method: .post, path: base + "/auth/merge",
            summary: "Merges this account with the one that the ticket is for; with dryRun, tells what would happen",
            access: .recent, body: MergeBody.self,
            answer: .init(status: .ok, body: MergeResponse.self, description: "A session of the survivor"),
            otherAnswers: [.init(status: .ok, body: MergePlanPayload.self, description: "With dryRun, the plan")],
            errors: [.invalidToken, .accountDisabled]
        ) { context, buffer in
            let body = try RequestBody.decode(MergeBody.self, from: buffer)
            let principal = try context.principal
            guard body.dryRun != true else {
                let plan = try await useCases.merging.preview(
                    ticket: body.mergeToken, survivor: body.survivor, by: principal)
                return .json(MergePlanPayload(plan))
            }
            let (signedIn, merge) = try await useCases.merging.merge(
                ticket: body.mergeToken, survivor: body.survivor, by: principal, from: context.client)
            return .json(MergeResponse(session: SessionResponse(signedIn), merge: MergePayload(merge)))
        }
    }

    private var merges: Endpoint {
        .get("/auth/merges", "What was merged into the account", access: .bearer, answers: MergeList.self) { context in
            MergeList(merges: try await useCases.merging.list(of: context.principal).map(MergePayload.init))
        }
    }

    private var undo: Endpoint {
        Endpoint(
            method: .post, path: base + "/auth/merges/{id}/undo", summary: "Parts two accounts again", access: .recent,
            answer: .init(status: .noContent, body: nil, description: "Both accounts are as they were"),
            errors: [.notFound, .lastUsableIdentity]
        ) { context, _ in
            guard let id = context.parameters.get("id", as: UUID.self) else { throw AccountsError.mergeNotFound }
            try await useCases.merging.undo(id, by: context.principal)
            return Response(status: .noContent)
        }
    }
}
