internal import Accounts
internal import Administration
internal import Foundation

/// Listing, finding and looking at accounts.
struct AccountReadingOperations {
    let useCases: AdministrationUseCases

    var list: AdminOperation<AdminQuery, Page<FoundAccount>> {
        AdminOperation("accounts.list", scope: .readAccounts) { request, query in
            let filter = AccountFilter(
                state: try query.choice("status"), provider: query["provider"],
                createdAfter: try query.time("createdAfter"), createdBefore: try query.time("createdBefore"))
            return try await useCases.search.list(filter, query.page, in: request.application)
        }
    }

    var search: AdminOperation<(body: SearchCriteria, query: AdminQuery), Page<FoundAccount>> {
        AdminOperation("accounts.search", scope: .readAccounts, limit: .adminSearch) { request, input in
            if input.body.hasPrefix { try request.administrator.require(.revealAccounts) }
            return try await useCases.search.search(
                for: SearchTerm(input.body), input.query.page, by: request.administrator)
        }
    }

    var detail: AdminOperation<UUID, MaskedAccountDetail> {
        AdminOperation("accounts.read", scope: .readAccounts, errors: [.accountNotFound]) { request, uid in
            try await useCases.reading.detail(of: uid, in: request.application)
        }
    }

    var reveal: AdminOperation<(uid: UUID, body: Act<RevealBody>), RevealedFields> {
        AdminOperation(
            "accounts.reveal", scope: .revealAccounts, limit: .adminReveal, errors: [.accountNotFound]
        ) { request, input in
            let fields = Set(input.body.body.fields)
            guard !fields.isEmpty else { throw AccountsError.missingParameter("fields") }
            let act = try await request.act(input.body, on: input.uid)
            let account = try await useCases.reading.reveal(fields, of: input.uid, by: act, in: request.application)
            return RevealedFields(account: account, sessions: account.sessions.map(request.entry))
        }
    }

    var identities: AdminOperation<(uid: UUID, query: AdminQuery), Page<ShownIdentity>> {
        AdminOperation("accounts.identities", scope: .readAccounts, errors: [.accountNotFound]) { request, input in
            try await useCases.reading.identities(of: input.uid, input.query.page, in: request.application)
        }
    }

    var sessions: AdminOperation<(uid: UUID, query: AdminQuery), Page<SessionList.Entry>> {
        AdminOperation("accounts.sessions", scope: .readAccounts, errors: [.accountNotFound]) { request, input in
            let page = try await useCases.reading.sessions(of: input.uid, input.query.page, in: request.application)
            return Page(items: page.items.map(request.entry), next: page.next)
        }
    }

    var merges: AdminOperation<(uid: UUID, query: AdminQuery), Page<Merge>> {
        AdminOperation("accounts.merges", scope: .readAccounts, errors: [.accountNotFound]) { request, input in
            try await useCases.reading.merges(of: input.uid, input.query.page, in: request.application)
        }
    }
}

extension AdminRequest {
    /// A session with the name of its client, none of which is the caller's.
    fileprivate func entry(of session: ListedSession) -> SessionList.Entry {
        SessionList.Entry(session, isCurrent: false, at: context.scope.application.openID)
    }
}
