internal import Accounts
internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// What the server counts.
    var statistics: [Endpoint] {
        let name = OperationDescription.Parameter(
            "name", required: true, help: "The number.", schema: .choice(of: Statistic.self))
        let label = OperationDescription.Parameter(
            "label", help: "One label, such as a provider; without it all, the highest first.")
        let from = OperationDescription.Parameter.time(
            "from", "RFC 3339, in UTC: from the step that it falls into; 24 hours before `to` without it.")
        let to = OperationDescription.Parameter.time("to", "RFC 3339, in UTC; now without it.")
        let step = OperationDescription.Parameter(
            "step", help: "Minutes are kept for 48 hours, hours for 400 days. Default: hour.",
            schema: .choice(of: StatisticsPeriod.Step.self))
        return [
            StatisticsOperations(useCases: useCases).series.at(
                .get, "/statistics", "What was counted, by time and label", takes: .query(name, label, from, to, step),
                returns: .json { StatisticsResponse(series: $0) })
        ]
    }
}

struct StatisticsOperations {
    let useCases: AdministrationUseCases

    var series: AdminOperation<AdminQuery, [StatisticsSeries]> {
        AdminOperation("statistics.read", scope: .readServer, errors: [.missingParameter]) { request, query in
            guard let statistic = try query.choice("name", of: Statistic.self) else {
                throw AccountsError.missingParameter("name")
            }
            return try await useCases.statistics.series(
                of: statistic, label: query["label"], in: query.period(endingAt: Date()),
                application: request.application)
        }
    }
}

extension AdminQuery {
    fileprivate func period(endingAt now: Date) throws -> StatisticsPeriod {
        let end = try time("to") ?? now
        return StatisticsPeriod(
            from: try time("from") ?? end.addingTimeInterval(-86_400), to: end, by: try choice("step") ?? .hour)
    }
}
