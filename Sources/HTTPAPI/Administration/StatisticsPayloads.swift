package import Accounts
internal import Administration
internal import Foundation
package import ProviderKit

struct StatisticsResponse: ResponsePayload {
    let series: [StatisticsSeries]

    static let fields = ResponseFields<Self>("Statistics") { Field("series", \.series) }
}

extension StatisticsSeries: ResponsePayload {
    package static let fields = ResponseFields<Self>("StatisticsSeries") {
        Field("label", \.label)
        Field("points", \.points)
    }
}

/// Written as an array of a time and a number, which takes a third of the space of an object.
extension StatisticsSeries.Point: ResponseValue {
    package static let schema = JSONSchema.array(of: .any)

    package func write(to json: inout JSONObjectWriter) {
        JSONValue.array([.string(Timestamp(time).text), .integer(Int64(count))]).write(to: &json)
    }
}
