internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

extension ConsolePlaces {
    static let accountPath = "/accounts/{uid}"

    /// An account: its state in words, everything that it has, and the acts that are possible.
    static let account = ConsolePlace(accountPath, forms: [accountPath, accountPath + "/notes"]) { request in
        let found = try await request.answer(to: accountPath)
        var values = try request.shown(found)
        values["actGroups"] = .array(request.actGroups(on: found))
        values["reveal"] = request.link(accountPath + "/reveal")
        values["access"] = request.link(accountPath + "/access")
        values["limits"] = request.may(.writeLimits) ? .string(request.base + "/limits") : .null
        values["identityTable"] = try await accountIdentities.part(in: request)
        values["sessionTable"] = try await accountSessions.part(in: request)
        values["timelineTable"] = try await timeline.part(in: request, limit: 20)
        values["mergeTable"] = try await merges.part(in: request)
        values["notes"] = try await request.notes(cut: true)
        values["noteForm"] = request.form(accountPath + "/notes", omitted: ["reason.note"])
        values["profileForm"] = request.form(accountPath)
        values["isProfileOpen"] = .bool(request.attempt(at: request.path(of: accountPath)) != nil)
        return ConsolePage("account", title: "Account", values)
    }

    /// The notes about an account in full length.
    static let accountNotes = ConsolePlace(accountPath + "/notes") { request in
        try await request.require(accountPath + "/notes")
        let up = JSONValue.string(request.path(of: accountPath))
        let form = request.form(accountPath + "/notes", omitted: ["reason.note"])
        return ConsolePage("notes", title: "Notes", ["up": up, "notes": try await request.notes(), "noteForm": form])
    }
}

// MARK: - What an account has

extension ConsolePlaces {
    static let accountIdentities = ConsoleList(
        path: accountPath + "/identities", name: "identities",
        columns: [
            .init("Provider", "provider"), .init("Id there", "providerUid"),
            .init("Address") { item, _ in
                item["email"].isNull
                    ? .address(item["phone"], isVerified: item["phoneVerified"])
                    : .address(item["email"], isVerified: item["emailVerified"])
            },
            .init("Can sign in") { item, _ in
                item["usable"].bool == true ? "yes" : .words("obstacle", item["unusableBecause"])
            },
            .init("Linked", "createdAt"), .init("Last used", "lastUsedAt"),
        ],
        rowActs: [.init(accountPath + "/identities/{id}/unlink", "id", by: "id")])

    static let accountSessions = ConsoleList(
        path: accountPath + "/sessions", name: "sessions",
        columns: [
            .init("Device") { item, _ in item["device"].isNull ? "Unknown" : item["device"] },
            .init("Network", "address"),
            .init("Used by") { item, _ in
                item["client"]["name"].isNull ? .words("session", item["kind"]) : item["client"]["name"]
            },
            .init("Began", "createdAt"), .init("Last seen", "lastSeenAt"), .init("Id", "id"),
        ],
        rowActs: [.init(accountPath + "/sessions/end", "sessions", by: "id")])

    private static let timeline = ConsoleList(
        path: accountPath + "/timeline", name: "timeline",
        columns: [
            .init("When", "at"), .init("What happened", "sentence"), .init("Provider", "provider"),
            .init("By") { item, _ in item["actor"].actorInWords },
            .init("Reason") { item, _ in item["details"]["reason"].reasonInWords },
        ])

    private static let merges = ConsoleList(
        path: accountPath + "/merges", name: "merges",
        columns: [
            .init("Absorbed account") { item, request in request.accountLink(item["absorbed"]) },
            .init("Merged", "mergedAt"),
            .init("The person can undo it until") { item, _ in
                item["undoneAt"].isNull ? item["undoUntil"] : "It was undone"
            },
        ])
}

extension ConsoleList {
    /// The list as a part of a page, where the parameter of the list's name has the cursor; `null` without the scope.
    fileprivate func part(in request: ConsoleRequest, limit: Int = 10) async throws -> JSONValue {
        let cursor = try request.query[name]
        let answer = try await request.read(path, asking: [("limit", String(limit)), ("after", cursor)])
        guard !answer.isNull else { return .null }
        let next = answer["next"].string.map {
            "\(request.path(of: ConsolePlaces.accountPath).addingQuery([name: $0]))#\(name)"
        }
        return .object(table(of: answer, next: next, in: request))
    }
}

extension ConsoleRequest {
    /// The notes about the account, the newest first; `null` without the scope.
    ///
    /// With `cut`, long ones lead to the page that has them whole.
    fileprivate func notes(cut: Bool = false) async throws -> JSONValue {
        let cursor = try context.request.query["notes"]
        let route = "/accounts/{uid}/notes"
        let answer = try await read(route, asking: [("limit", "5"), ("after", cut ? nil : cursor)])
        guard let items = answer["items"].array else { return .null }
        let all = path(of: route)
        let next = answer["next"].string
        return [
            "items": .array(
                items.map { note in
                    let text = note["text"].string ?? ""
                    return [
                        "id": note["id"], "createdAt": note["createdAt"], "by": note["actor"].actorInWords,
                        "reason": note["reason"].reasonInWords,
                        "text": cut ? ["whole": .string(text.beginning)] : ["whole": .string(text)],
                        "rest": cut && text.beginning != text
                            ? .string("\(all)#note-\(note["id"].string ?? "")") : false,
                    ]
                }),
            "next": next.map { .string(cut ? all : all.addingQuery(["notes": $0])) } ?? false,
        ]
    }
}
