internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

extension ConsoleRequest {
    /// What the template `account` shows of the account itself.
    func shown(_ account: JSONValue) throws -> [String: JSONValue] {
        let status = account["status"].string ?? ""
        let uid = account["uid"].string ?? ""
        let claims = try account["claims"].cut.asTypedJSON
        return [
            "account": account.closed,
            "state": [
                "isLive": .bool(status == "live"), "isGuest": .bool(status == "guest"),
                "isDisabled": .bool(status == "disabled"), "isDeleted": .bool(status == "deleted"),
                "isRestorable": .bool(account.isRestorable),
                "wasDisabled": .bool(status == "deleted" && !account["disabledAt"].isNull),
            ],
            "alias": account["alias"].bool == true
                ? ["asked": .string(self["uid"]), "uid": .string(uid), "href": .string("\(base)/accounts/\(uid)")]
                : .null,
            "metadataNames": .array((account["metadata"].object ?? [:]).keys.sorted().map { .string($0) }),
            "claims": account["claims"].object?.isEmpty == false ? ["whole": .string(claims)] : .null,
            "locks": .array(
                (account["locks"].array ?? []).map { lock in
                    ["what": .words("lock", lock["kind"]), "name": lock["name"], "until": lock["until"]]
                }),
            "pending": .array(
                (account["pending"].array ?? []).map { step in
                    ["what": .words("pending", step["kind"]), "until": step["until"]]
                }),
        ]
    }

    /// Links to the acts that the account's state permits, in groups, the dangerous ones last.
    func actGroups(on account: JSONValue) -> [JSONValue] {
        let status = account["status"].string ?? ""
        let isDeleted = status == "deleted"
        let (isLive, isGuest) = (status == "live", status == "guest")
        let isDisabled = !account["disabledAt"].isNull
        let why: JSONValue = [
            "href": .string(path(of: "/accounts/{uid}/why")), "isGrave": false,
            "title": .string(ConsoleTemplates.text("act.accounts.why.title") ?? "Why"),
        ]
        let looking = [link("/accounts/{uid}/reveal"), why, isLive || isGuest ? link("/accounts/{uid}/merge") : .null]
        let changing = [
            isDeleted && account.isRestorable ? link("/accounts/{uid}/restore") : .null,
            isDisabled ? link("/accounts/{uid}/enable") : .null, link("/accounts/{uid}/access"),
            isLive ? link("/accounts/{uid}/recover") : .null,
            isGuest ? .null : link("/accounts/{uid}/require-password-change"),
            link("/accounts/{uid}/sessions/end"),
        ]
        let grave = [
            link("/accounts/{uid}/export"), isDisabled ? .null : link("/accounts/{uid}/disable"),
            isDeleted ? .null : link("/accounts/{uid}/delete"),
            isDeleted && account.isRestorable ? link("/accounts/{uid}/erase") : .null,
        ]
        return [("Look", looking), ("Change", changing), ("With care", grave)].compactMap { title, acts in
            let possible = acts.filter { !$0.isNull }
            return possible.isEmpty ? nil : ["title": .string(title), "acts": .array(possible)]
        }
    }
}

extension JSONValue {
    /// Whether the grace period of a deleted account lasts.
    fileprivate var isRestorable: Bool {
        self["purgeAfter"].time.map { $0 > Date() } ?? false
    }

    /// The value with its texts cut at the length of texts on pages.
    var cut: JSONValue {
        switch self {
        case .string(let text): .string(text.beginning)
        case .array(let items): .array(items.map(\.cut))
        case .object(let members): .object(members.mapValues(\.cut))
        case .null, .bool, .integer, .number: self
        }
    }
}
