internal import Accounts
internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// Accounts as administrators see them: masked.
    var accountReading: [Endpoint] {
        let operations = AccountReadingOperations(useCases: useCases)
        return [
            operations.list.at(
                .get, "/accounts", "The application's accounts, the newest first", takes: .accounts,
                returns: .json { AccountList(page: $0) }),
            operations.search.at(
                .post, "/accounts/search", "Accounts by exactly one criterion; prefixes need `accounts:reveal`",
                takes: .search, returns: .json { AccountList(page: $0) }),
            operations.detail.at(
                .get, "/accounts/{uid}", "An account; the uid of an absorbed one leads to that which has absorbed it",
                takes: RequestShape { try $0.accountUID }, returns: .json),
            operations.reveal.at(
                .post, "/accounts/{uid}/reveal", "Fields of an account, unmasked",
                takes: .account(Act<RevealBody>.self), returns: .json),
            operations.identities.at(
                .get, "/accounts/{uid}/identities", "The account's identities, and whether they can sign in",
                takes: .partOfAccount, returns: .json { ShownIdentityList(page: $0) }),
            operations.sessions.at(
                .get, "/accounts/{uid}/sessions", "The account's live sessions, the newest first",
                takes: .partOfAccount, returns: .json { ShownSessionList(page: $0) }),
            operations.merges.at(
                .get, "/accounts/{uid}/merges", "The account's merges, the newest first",
                takes: .partOfAccount, returns: .json { ShownMergeList(page: $0) }),
        ]
    }
}

// MARK: - Parameters

extension [OperationDescription.Parameter] {
    fileprivate static let part: Self = [
        .init("limit", help: "How many items: 1 to 200, 50 without it.", schema: JSONSchema(.integer)),
        .init("after", help: "The cursor `next` of the part before, with the same other parameters."),
    ]

    fileprivate static let filter: Self = [
        .init(
            "status", help: "Accounts in this state.",
            schema: .enumeration(AccountState.allCases.map(\.rawValue))),
        .init("provider", help: "Accounts with an identity of this provider."),
        .init("createdAfter", help: "RFC 3339, in UTC.", schema: Date.schema),
        .init("createdBefore", help: "RFC 3339, in UTC.", schema: Date.schema),
    ]
}

extension RequestShape<(filter: AccountFilter, part: AccountReadingOperations.Part)> {
    fileprivate static var accounts: Self {
        let parameters: [OperationDescription.Parameter] = .part + .filter
        return Self(taken: TakenRequest(parameters: parameters)) { request in
            _ = try AdminQuery(request, of: parameters)
            return (try request.query.accountFilter, try request.query.part)
        }
    }
}

extension RequestShape<(body: SearchBody, part: AccountReadingOperations.Part)> {
    fileprivate static var search: Self {
        Self(taken: TakenRequest(body: SearchBody.self, parameters: .part, form: .json)) {
            (try $0.decode(SearchBody.self), try $0.query.part)
        }
    }
}

extension RequestShape<(uid: UUID, part: AccountReadingOperations.Part)> {
    fileprivate static var partOfAccount: Self {
        Self(taken: TakenRequest(parameters: .part)) { (try $0.accountUID, try $0.query.part) }
    }
}

extension IncomingRequest {
    fileprivate var accountUID: UUID {
        get throws {
            guard let uid = context.parameters.get("uid", as: UUID.self) else {
                throw APIError(.accountNotFound, "There is no such account")
            }
            return uid
        }
    }
}

extension FormFields {
    fileprivate var part: AccountReadingOperations.Part {
        get throws {
            guard let text = self["limit"] else { return (self["after"], PageCursors.standardLimit) }
            guard let limit = Int(text), PageCursors.limits.contains(limit) else {
                throw AccountsError.invalidParameter("limit", reason: "is 1 to \(PageCursors.limits.upperBound)")
            }
            return (self["after"], limit)
        }
    }

    fileprivate var accountFilter: AccountFilter {
        get throws {
            let state = try self["status"].map { text in
                guard let state = AccountState.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) }) else {
                    let names = AccountState.allCases.map(\.rawValue).joined(separator: ", ")
                    throw AccountsError.invalidParameter("status", reason: "is one of \(names)")
                }
                return state
            }
            return AccountFilter(
                state: state, provider: try text("provider"), createdAfter: try time("createdAfter"),
                createdBefore: try time("createdBefore"))
        }
    }

    private func time(_ name: String) throws -> Date? {
        try self[name].map { text in
            guard let time = Timestamp(text) else {
                throw AccountsError.invalidParameter(name, reason: "is a time such as 2024-01-30T08:00:00Z")
            }
            return time.date
        }
    }

    /// A text that the database can compare; it has none with U+0000.
    private func text(_ name: String) throws -> String? {
        guard let text = self[name] else { return nil }
        guard !text.utf8.contains(0) else { throw AccountsError.invalidParameter(name, reason: "holds U+0000") }
        return text
    }
}
