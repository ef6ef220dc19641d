internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import HTTPTypes
internal import ProviderKit

/// A page with one list of the admin API as a table.
struct ConsoleList: Sendable {
    struct Column: Sendable {
        let title: String
        /// What a cell shows: a text, a time, a list of texts, or an object with `text`, and `href` for a link.
        let cell: @Sendable (_ item: JSONValue, ConsoleRequest) -> JSONValue

        init(_ title: String, cell: @escaping @Sendable (_ item: JSONValue, ConsoleRequest) -> JSONValue) {
            (self.title, self.cell) = (title, cell)
        }

        /// A member of the item, by its dotted path.
        init(_ title: String, _ member: String) {
            self.init(title) { item, _ in item[path: member] }
        }
    }

    /// An act on one item.
    struct RowAct: Sendable {
        let route: String
        /// The parameter of the route, or of the query of the act's page, and the member of the item with its value.
        let parameter, member: String
        let isPossible: @Sendable (JSONValue) -> Bool

        init(
            _ route: String, _ parameter: String, by member: String,
            if isPossible: @escaping @Sendable (JSONValue) -> Bool = { _ in true }
        ) {
            (self.route, self.parameter, self.member) = (route, parameter, member)
            self.isPossible = isPossible
        }
    }

    /// The path, which is that of the list in the admin API.
    let path: String
    /// The name of the list among the texts: `list.NAME.title`, `.about` and `.empty`.
    let name: String
    let columns: [Column]
    var rowActs: [RowAct] = []
    /// Acts on everything, as links to their pages.
    var acts: [String] = []
    /// Acts whose forms stand below the list.
    var forms: [String] = []

    var place: ConsolePlace {
        ConsolePlace(path, forms: forms) { try await page(for: $0) }
    }

    /// The page with the list, in a template that may show `more`.
    func page(
        for request: ConsoleRequest, in template: String = "list", with more: [String: JSONValue] = [:]
    ) async throws -> ConsolePage {
        ConsolePage(
            template, title: ConsoleTemplates.text("list.\(name).title") ?? name,
            try await values(for: request).merging(more) { $1 })
    }

    /// What the template `list` shows.
    func values(for request: ConsoleRequest) async throws -> [String: JSONValue] {
        let query = try request.query
        let filters = (request.console.endpoint(.get, path)?.takes.parameters ?? []).filter {
            !["limit", "after"].contains($0.name)
        }
        let asked =
            filters.map { ($0.name, $0.isTime ? query[$0.name]?.inUTC : query[$0.name]) } + [("after", query["after"])]
        let answer = try await request.answer(to: path, asking: asked)
        let next = answer["next"].string.map { next in
            let kept = asked.filter { $0.0 != "after" } + [("after", next)]
            return kept.reduce(request.path(of: path)) { $0.addingQuery([$1.0: $1.1]) }
        }
        var values: [String: JSONValue] = [
            "name": .string(name), "path": .string(request.path(of: path)),
            "filters": .array(filters.map { filter($0, query[$0.name]) }), "hasFilters": .bool(!filters.isEmpty),
            "acts": .array(acts.map { request.link($0) }.filter { !$0.isNull }),
            "forms": .array(
                forms.map { route in
                    let form = request.form(route)
                    return form.isNull ? .null : ["form": form, "title": request.link(route)["title"]]
                }.filter { !$0.isNull }),
        ]
        values["about"] = ConsoleTemplates.text("list.\(name).about").map { .string($0) }
        let isFiltered = filters.contains { query[$0.name] != nil }
        return values.merging(table(of: answer, next: next, isFiltered: isFiltered, in: request)) { $1 }
    }

    /// What the template `table` shows of a part of the list; `next` leads to the next part.
    func table(
        of answer: JSONValue, next: String?, isFiltered: Bool = false, in request: ConsoleRequest
    ) -> [String: JSONValue] {
        let rows = (answer["items"].array ?? []).map { row($0, in: request) }
        return [
            "columns": .array(columns.map { ["title": .string($0.title)] }),
            "rows": .array(rows), "hasRows": .bool(!rows.isEmpty),
            "hasRowActs": .bool(rows.contains { $0["acts"] != [] }), "isFiltered": .bool(isFiltered),
            "empty": ConsoleTemplates.text("list.\(name).empty").map { .string($0) } ?? "",
            "next": next.map { .string($0) } ?? false,
        ]
    }

    private func row(_ item: JSONValue, in request: ConsoleRequest) -> JSONValue {
        let possible = rowActs.filter { $0.isPossible(item) }
        return [
            "cells": .array(
                columns.map { column in
                    ["title": .string(column.title), "cell": .shown(column.cell(item, request))]
                }),
            "acts": .array(
                possible.compactMap { act in
                    let link = request.link(act.route)
                    guard let title = link["title"].string, let id = item[path: act.member].string else { return nil }
                    let parameter = "{\(act.parameter)}"
                    let path =
                        act.route.contains(parameter)
                        ? request.path(of: act.route.replacing(parameter, with: id))
                        : request.path(of: act.route).addingQuery([act.parameter: id])
                    return ["href": .string(path), "title": .string(title), "isGrave": link["isGrave"]]
                }),
        ]
    }

    private func filter(_ parameter: OperationDescription.Parameter, _ value: String?) -> JSONValue {
        let choices = parameter.schema.values.compactMap(\.string)
        return [
            "name": .string(parameter.name), "id": .string("\(name)-\(parameter.name)"),
            "label": .string(ConsoleTemplates.text("field.\(parameter.name)") ?? parameter.name),
            "help": .string(ConsoleTemplates.text("help.\(parameter.name)") ?? parameter.help),
            "value": ["exact": .string(parameter.isTime ? String((value ?? "").prefix(16)) : value ?? "")],
            "isSelect": .bool(!choices.isEmpty), "isTime": .bool(parameter.isTime),
            "options": .array(
                choices.map {
                    [
                        "value": .string($0), "isChosen": .bool($0 == value),
                        "label": .string(ConsoleTemplates.words(for: $0, of: parameter.name)),
                    ]
                }),
        ]
    }
}

extension OperationDescription.Parameter {
    fileprivate var isTime: Bool { schema.format == "date-time" }
}

extension ConsoleTemplates {
    /// The words for a choice of a field, or for a member of an answer with such a value.
    static func words(for choice: String, of field: String) -> String {
        text("option.\(field).\(choice)") ?? text("option.\(choice)") ?? choice
    }
}

extension JSONValue {
    /// A cell of a table: `{"text"}`, `{"time"}`, `{"list"}`, or nothing for `null`.
    static func shown(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members) where members["text"] != nil: value
        case .object, .null: .null
        case .array(let items): ["list": .array(items)]
        case .bool(let isTrue): ["text": isTrue ? "yes" : "no"]
        case .string where value.time != nil: ["time": value]
        case .string, .integer, .number: ["text": value]
        }
    }
}
