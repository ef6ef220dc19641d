internal import Foundation
internal import ProviderKit

/// What needs attention: each banner of the overview leads to the page where something can be done.
enum OverviewBanners {
    /// How long before its end a service key is named.
    private static let notice: TimeInterval = 30 * 86_400
    /// After how many seconds without a seal the audit is named; it is sealed every few seconds.
    private static let longestUnsealed: Int64 = 60

    static func values(for request: ConsoleRequest, at now: Date) async throws -> [String: JSONValue] {
        let limit = [("limit", Optional("200"))]
        let providers = try await request.read("/providers", asking: limit)["items"].array ?? []
        let webhooks = try await request.read("/webhooks", asking: limit)["items"].array ?? []
        let keys = try await request.read("/service-keys", asking: limit)["items"].array ?? []
        let refused = try await request.read("/configuration")["refused"]
        let audit = try await request.read("/audit/state")
        let unsealed = audit["oldestUnsealed"].integer ?? 0
        return [
            "switches": .array(providers.compactMap { switched($0, in: request) }),
            "secrets": .array(providers.compactMap { expiringSecret($0, in: request, at: now) }),
            "keys": .array(keys.compactMap { expiringKey($0, in: request, at: now) }),
            "refused": refused.isNull
                ? .null : ["at": refused["at"], "href": .string(request.path(of: "/configuration"))],
            "unsealed": unsealed <= longestUnsealed
                ? .null
                : [
                    "age": .string(Duration.seconds(unsealed).inWords),
                    "href": .string(request.path(of: "/audit")),
                ],
            "webhooks": .array(
                webhooks.filter { $0["state"].string == "failing" }.map { webhook in
                    [
                        "name": webhook["name"], "failure": webhook["failure"], "pending": webhook["pending"],
                        "href": .string(request.path(of: "/webhooks")),
                    ]
                }),
        ]
    }

    private static func switched(_ provider: JSONValue, in request: ConsoleRequest) -> JSONValue? {
        let change = provider["switch"]
        guard !change.isNull else { return nil }
        return [
            "name": provider["name"], "from": .words("mode", provider["fileMode"]),
            "to": .words("mode", change["mode"]), "until": change["until"],
            "href": link(to: provider, in: request),
        ]
    }

    private static func expiringSecret(_ provider: JSONValue, in request: ConsoleRequest, at now: Date) -> JSONValue? {
        guard let expiry = SecretExpiry(provider["secretExpires"], now: now), expiry.isDue else { return nil }
        return ["name": provider["name"], "expiry": expiry.json, "href": link(to: provider, in: request)]
    }

    private static func expiringKey(_ key: JSONValue, in request: ConsoleRequest, at now: Date) -> JSONValue? {
        guard key["revokedAt"].isNull, let end = key["expiresAt"].time,
            (now...now.addingTimeInterval(notice)).contains(end)
        else { return nil }
        return [
            "name": key["name"], "expiresAt": key["expiresAt"], "href": .string(request.path(of: "/service-keys")),
        ]
    }

    private static func link(to provider: JSONValue, in request: ConsoleRequest) -> JSONValue {
        .string(request.path(of: "/providers") + "/\(provider["name"].string ?? "")")
    }
}
