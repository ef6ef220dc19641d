internal import Accounts
internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// What the server counts.
    var statistics: [Endpoint] {
        [
            StatisticsOperations(useCases: useCases).series.at(
                .get, "/statistics", "What was counted, by time and label", takes: .statistics,
                returns: .json { StatisticsAnswer(series: $0) })
        ]
    }
}

struct StatisticsOperations {
    typealias Input = (statistic: Statistic, label: String?, period: StatisticsPeriod)

    let useCases: AdministrationUseCases

    var series: AdminOperation<Input, [StatisticsSeries]> {
        AdminOperation("statistics.read", scope: .readServer) { call, input in
            try await useCases.statistics.series(
                of: input.statistic, label: input.label, in: input.period, application: call.application)
        }
    }
}

extension RequestShape<StatisticsOperations.Input> {
    fileprivate static var statistics: Self {
        Self(taken: TakenRequest(parameters: .statistics)) { request in
            let query = try request.query
            return (try query.statistic, query["label"], try query.period(endingAt: Date()))
        }
    }
}

extension [OperationDescription.Parameter] {
    fileprivate static let statistics: Self = [
        .init(
            "name", required: true, help: "The number.", schema: .enumeration(Statistic.allCases.map(\.rawValue))),
        .init("label", help: "One label, such as a provider; without it all, the highest first."),
        .init("from", help: "RFC 3339, in UTC; 24 hours before `to` without it.", schema: Date.schema),
        .init("to", help: "RFC 3339, in UTC; now without it.", schema: Date.schema),
        .init(
            "step", help: "Minutes are kept for 48 hours, hours for 400 days. Default: hour.",
            schema: .enumeration(StatisticsPeriod.Step.allCases.map(\.rawValue))),
    ]
}

extension FormFields {
    fileprivate var statistic: Statistic {
        get throws {
            guard let name = self["name"] else { throw AccountsError.missingParameter("name") }
            return try choice(name, of: "name")
        }
    }

    fileprivate func period(endingAt now: Date) throws -> StatisticsPeriod {
        let step: StatisticsPeriod.Step = try self["step"].map { try choice($0, of: "step") } ?? .hour
        let end = try time("to") ?? now
        return StatisticsPeriod(from: try time("from") ?? end.addingTimeInterval(-86_400), to: end, by: step)
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, of name: String
    ) throws -> Choice {
        guard let choice = Choice.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) }) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw AccountsError.invalidParameter(name, reason: "is one of \(names)")
        }
        return choice
    }

    private func time(_ name: String) throws -> Date? {
        guard let text = self[name] else { return nil }
        guard let time = Timestamp(text) else {
            throw AccountsError.invalidParameter(name, reason: "is not a time as in 2024-01-30T08:00:00Z")
        }
        return time.date
    }
}
