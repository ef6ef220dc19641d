internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

/// The query of a list of the admin API.
struct AdminQuery: Sendable {
    private let fields: FormFields
    let page: RequestedPage

    /// - Throws: 400 for a `limit` out of range, for an empty value, and for U+0000, which no text in the database has.
    init(_ request: IncomingRequest, of parameters: [OperationDescription.Parameter]) throws {
        fields = try request.query
        for (name, value) in try FormFields.pairs(of: request.request.uri.query ?? "")
        where parameters.contains(where: { $0.name.hasSameBytes(as: name) }) {
            guard !value.isEmpty, !value.utf8.contains(0) else { throw Self.invalid(name, "is empty or has U+0000") }
        }
        let limit = fields["limit"].map { Int($0) } ?? PageCursors.standardLimit
        guard let limit, PageCursors.limits.contains(limit) else { throw Self.invalid("limit", "is 1 to 200") }
        page = RequestedPage(limit: limit, after: fields["after"])
    }

    subscript(name: String) -> String? { fields[name] }

    /// The values of these parameters, to which a cursor belongs.
    func filter(_ names: String...) -> [String: String] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, fields[$0] ?? "") })
    }

    /// - Throws: 400 unless the parameter is absent or a time of RFC 3339.
    func time(_ name: String) throws -> Date? {
        guard let text = fields[name] else { return nil }
        guard let time = Timestamp(text) else {
            throw Self.invalid(name, "must be a time such as 2026-01-30T08:00:00Z")
        }
        return time.date
    }

    /// - Throws: 400 unless the parameter is absent or one of the choices.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, of type: Choice.Type = Choice.self
    ) throws -> Choice? where Choice.RawValue == String {
        guard let text = fields[name] else { return nil }
        guard let choice = Choice(bytesOf: text) else {
            throw Self.invalid(name, "must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    private static func invalid(_ name: String, _ reason: String) -> APIError {
        APIError(.invalidParameter, "\(name) \(reason)")
    }
}

extension RequestShape<AdminQuery> {
    /// Reads a query with `limit`, `after` and the parameters of a filter.
    static func list(_ filter: OperationDescription.Parameter...) -> Self {
        let parameters: [OperationDescription.Parameter] = [
            .init("limit", help: "1 to 200 items; 50 if absent.", schema: JSONSchema(.integer)),
            .init("after", help: "The cursor `next` of the part before."),
        ]
        return .parameters(filter + parameters)
    }

    /// Reads a query without a page.
    static func query(_ parameters: OperationDescription.Parameter...) -> Self {
        .parameters(parameters)
    }

    private static func parameters(_ parameters: [OperationDescription.Parameter]) -> Self {
        Self(taken: TakenRequest(parameters: parameters)) { try AdminQuery($0, of: parameters) }
    }
}

extension RequestShape<(uid: UUID, query: AdminQuery)> {
    /// Reads the path parameter `uid`, and a query with `limit` and `after`.
    static var listOfAccount: Self {
        let list = RequestShape<AdminQuery>.list()
        return Self(taken: list.taken) { (try $0.accountUID, try list.read($0)) }
    }
}

extension OperationDescription.Parameter {
    /// A time of RFC 3339.
    static func time(_ name: String, _ help: String) -> Self { Self(name, help: help, schema: Date.schema) }
}

/// A part of a list, as every list of the admin API has it.
struct ListPayload<Item: ResponsePayload & NamedList>: ResponsePayload {
    let page: Page<Item>

    init(_ page: Page<Item>) { self.page = page }
    /// A list that is sent as a whole.
    init(_ items: [Item]) { page = Page(items: items, next: nil) }

    static var fields: ResponseFields<Self> {
        ResponseFields(Item.listName) {
            Field("items", \.page.items)
            Field("next", orNull: \.page.next)
        }
    }
}

/// An item of a list with a name for the list's schema.
protocol NamedList {
    static var listName: String { get }
}
