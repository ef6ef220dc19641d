internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

extension ConsolePlaces {
    /// What needs attention, and what the server has done in the last day.
    static let overview = ConsolePlace("") { request in
        let now = Date()
        let counts = try await Counts(request, until: now)
        var values: [String: JSONValue] = [
            "plots": .array(counts.plots), "queues": .array(try await queues(request)),
            "isQuiet": .bool(counts.isQuiet), "issuer": .string(request.application.issuer),
            "inbox": request.scope.site.isDevelopment ? "/dev/inbox" : false,
        ]
        values.merge(try await OverviewBanners.values(for: request, at: now)) { $1 }
        return ConsolePage("overview", title: "Overview", values)
    }

    /// How much waits and how much was given up, each with a link to its list.
    private static func queues(_ request: ConsoleRequest) async throws -> [JSONValue] {
        var rows: [JSONValue] = []
        for (path, filter, choice) in [
            ("/deliveries", "state", "pending"), ("/deliveries", "state", "failed"),
            ("/messages", "state", "pending"), ("/messages", "state", "failed"),
            ("/erasures", "status", "scheduled"),
        ] {
            let list = try await request.read(path, asking: [(filter, choice), ("limit", "100")])
            guard let items = list["items"].array else { continue }
            rows.append([
                "title": .string(ConsoleTemplates.text("queue.\(path.dropFirst()).\(choice)") ?? path),
                "count": .string(list["next"].isNull ? "\(items.count)" : "over \(items.count)"),
                "href": .string(request.path(of: path).addingQuery([filter: choice])),
            ])
        }
        return rows
    }
}

/// The plots of the overview.
private struct Counts {
    /// Each with a link to the list behind it.
    let plots: [JSONValue]
    /// Whether there were no sign-ins.
    let isQuiet: Bool

    private static let hours = 24

    init(_ request: ConsoleRequest, until now: Date) async throws {
        let signIns = try await Self.plot(request, .lines, of: "signIns", until: now)
        let refusals = try await Self.plot(request, .bars, of: "refusals", until: now)
        let hashing = try await Self.plot(request, .lines, of: "hashing", until: now)
        isQuiet = signIns?.series.isEmpty == true
        let audit = request.may(.readAudit) ? "/audit" : nil
        plots = [(signIns, "/providers"), (refusals, audit), (hashing, "/configuration")].compactMap { plot, list in
            guard let plot, case .object(var members) = plot.json else { return nil }
            members["link"] = list.map { list in
                [
                    "href": .string(request.path(of: list)),
                    "title": .string(ConsoleTemplates.text("plot.\(plot.id).link") ?? list),
                ]
            }
            members["empty"] = .string(ConsoleTemplates.text("plot.\(plot.id).empty") ?? "")
            return .object(members)
        }
    }

    /// The plot of one number; `nil` for a person who may not see it.
    private static func plot(
        _ request: ConsoleRequest, _ kind: ConsolePlot.Kind, of name: String, until now: Date
    ) async throws -> ConsolePlot? {
        let start = ConsolePlot.start(ofHours: hours, until: now)
        let answer = try await request.read(
            "/statistics",
            asking: [
                ("name", name), ("step", "hour"), ("from", Timestamp(start).text), ("to", Timestamp(now).text),
            ])
        guard !answer.isNull else { return nil }
        return ConsolePlot(
            kind, id: name, title: ConsoleTemplates.text("plot.\(name).title") ?? name, of: answer, hours: hours,
            until: now, labelled: { $0.isEmpty ? ConsoleTemplates.text("plot.\(name).all") ?? name : $0 })
    }
}
