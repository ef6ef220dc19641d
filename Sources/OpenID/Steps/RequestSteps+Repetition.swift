internal import Accounts
internal import Foundation
internal import ProviderKit

/// Forms that come again before the browser has got the answer.
extension RequestSteps {
    /// Answers a form again that has proven an account already, or has ended the request; `nil` if it has not, or not
    /// lately.
    ///
    /// Only the form that has proven an account yields the cookie under which that account's session is.
    func repeated(
        _ action: StepAction?, _ formToken: String, of state: RequestState, _ context: Context
    ) async throws -> StepResponse? {
        guard let action else { return nil }
        guard action.proof != nil else { return try await endedAgain(state, context, cookie: nil) }
        let answer = try await repeated(
            under: proofs.cookie(after: action, formToken: formToken, context), by: action, of: state, context)
        if answer != nil || state.progress.ending == nil { return answer }
        return try await endedAgain(state, context, cookie: nil)
    }

    func repeated(
        under cookie: OpaqueToken, by action: StepAction? = nil, of state: RequestState, _ context: Context
    ) async throws -> StepResponse? {
        guard var now = try await reload(state, context, under: cookie) else { return nil }
        let isBorrowing = if case .finish? = action { true } else { false }
        let proven = now.live.filter {
            (isBorrowing ? !$0.session.isOfApp : !$0.session.isBorrowed)
                && .seconds($0.session.age) <= Authorization.codeLifetime
                || links.hasMerged(into: $0, by: action)
        }
        .min { ($0.session.age, $1.lastUsedAt) < ($1.session.age, $0.lastUsedAt) }
        guard let proven else { return nil }
        if isBorrowing {
            if now.progress.session != proven.session.id {
                now.progress = RequestProgress(borrowing: proven.session.id, after: now.progress)
            }
        } else if now.progress.proven != proven.session.id {
            now.progress = RequestProgress(
                provenBy: proven.session.id, isNewAccount: proven.isNew, after: now.progress)
            now.progress.hasActed = action != nil || state.progress.hasActed
        }
        if action.map(state.links(by:)) ?? state.linksCallback { now.progress.hasLinked = true }
        return try await proceed(now, as: proven.session.id, after: state, context, cookie: cookie)
    }
}
