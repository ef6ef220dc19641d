internal import Administration
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// Accounts as administrators see them: masked.
    var accountReading: [Endpoint] {
        let operations = AccountReadingOperations(useCases: useCases)
        return [
            operations.list.at(
                .get, "/accounts", "The application's accounts, the newest first", takes: .accounts,
                returns: .json { ListPayload($0) }),
            operations.search.at(
                .post, "/accounts/search", "Accounts by exactly one criterion; prefixes need `accounts:reveal`",
                takes: .search, returns: .json { ListPayload($0) }),
            operations.detail.at(
                .get, "/accounts/{uid}", "An account; the uid of an absorbed one leads to that which has absorbed it",
                takes: RequestShape { try $0.accountUID }, returns: .json),
            operations.reveal.at(
                .post, "/accounts/{uid}/reveal", "Fields of an account, unmasked",
                takes: .account(Act<RevealBody>.self), returns: .json),
            operations.identities.at(
                .get, "/accounts/{uid}/identities", "The account's identities, and whether they can sign in",
                takes: .listOfAccount, returns: .json { ListPayload($0) }),
            operations.sessions.at(
                .get, "/accounts/{uid}/sessions", "The account's live sessions, the newest first",
                takes: .listOfAccount, returns: .json { ListPayload($0) }),
            operations.merges.at(
                .get, "/accounts/{uid}/merges", "The account's merges, the newest first",
                takes: .listOfAccount, returns: .json { ListPayload($0) }),
        ]
    }
}

extension RequestShape<AdminQuery> {
    fileprivate static var accounts: Self {
        .list(
            .init("status", help: "Accounts in this state.", schema: .choice(of: AccountState.self)),
            .init("provider", help: "Accounts with an identity of this provider."),
            .time("createdAfter", "RFC 3339, in UTC."), .time("createdBefore", "RFC 3339, in UTC."))
    }
}

extension RequestShape<(body: SearchCriteria, query: AdminQuery)> {
    fileprivate static var search: Self {
        let list = RequestShape<AdminQuery>.list()
        var taken = list.taken
        (taken.body, taken.form) = (SearchCriteria.self, .json)
        return Self(taken: taken) { (try $0.decode(), try list.read($0)) }
    }
}
