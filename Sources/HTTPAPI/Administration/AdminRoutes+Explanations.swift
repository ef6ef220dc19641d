internal import Accounts
internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// What has happened to an account, and what the linking rules decide.
    var explanations: [Endpoint] {
        let operations = ExplanationOperations(explanations: useCases.explanations)
        return [
            operations.timeline.at(
                .get, "/accounts/{uid}/timeline", "The audit of an account, the newest event first",
                takes: .listOfAccount, returns: .json { ListPayload($0) }),
            operations.secondAccount.at(
                .get, "/accounts/{uid}/why", "Why an account exists beside another one", takes: .secondAccount,
                returns: .json),
            operations.explain.at(
                .post, "/explain", "What a sign-in or a link would lead to, and by which rule", takes: .json,
                returns: .json),
        ]
    }
}

struct ExplanationOperations {
    let explanations: Explanations

    var timeline: AdminOperation<(uid: UUID, query: AdminQuery), Page<TimelineEntry>> {
        AdminOperation("accounts.timeline", scope: .readAccounts, errors: [.accountNotFound]) { request, input in
            try await explanations.timeline(of: input.uid, input.query.page, in: request.application)
        }
    }

    var secondAccount: AdminOperation<(uid: UUID, other: UUID?), SecondAccount> {
        AdminOperation("accounts.why", scope: .readAccounts, errors: [.accountNotFound]) { request, input in
            try await explanations.secondAccount(input.uid, besides: input.other, in: request.application)
        }
    }

    /// Counted as a search, because the answer shows which account owns an address.
    var explain: AdminOperation<LinkingQuestionBody, Explanation> {
        AdminOperation(
            "explain", scope: .readAccounts, limit: .adminSearch, errors: [.accountNotFound, .unsupportedProvider]
        ) { request, input in
            try await explanations.explain(input.question, by: request.administrator, in: request.application)
        }
    }
}

extension RequestShape<(uid: UUID, other: UUID?)> {
    fileprivate static var secondAccount: Self {
        let parameters: [OperationDescription.Parameter] = [
            .init("other", help: "The uid of the account that the person had already.", schema: .uuid)
        ]
        return Self(taken: TakenRequest(parameters: parameters)) { request in
            let other = try AdminQuery(request, of: parameters)["other"].map { text in
                guard let uid = UUID(uuidString: text) else { throw APIError(.invalidParameter, "other is not a UUID") }
                return uid
            }
            return (try request.accountUID, other)
        }
    }
}
