internal import Accounts
package import Administration
internal import Foundation
internal import ProviderKit

/// The plan of a merge as the owner gets it, but masked, and with warnings.
extension MergeForecast: ResponsePayload {
    package static let fields = ResponseFields<Self>("MergeForecast") {
        Field("survivor", \.plan.survivor)
        Field("absorbed", \.plan.absorbed)
        Field("moves") { Moves(plan: $0.plan) }
        Field("collisions", \.plan.collisions)
        Field("drops", \.plan.drops)
        Field("warnings", \.warnings)
    }

    /// The data that moves from the absorbed account to the surviving account.
    private struct Moves: ResponsePayload {
        let plan: MergePlan

        static let fields = ResponseFields<Self>("MergeForecastMoves") {
            Field("identities") { $0.plan.identities.map(MovedIdentity.init) }
            Field("addresses") { $0.plan.addresses.map(\.masked) }
            Field("displayName", ifAny: \.plan.displayName?.maskedName)
            // The names of the members.
            Field("metadata") { $0.plan.metadata.keys.sorted() }
        }
    }

    private struct MovedIdentity: ResponsePayload {
        let identity: Identity

        static let fields = ResponseFields<Self>("MergeForecastIdentity") {
            Field("id", \.identity.id)
            Field("provider", \.identity.provider)
            Field("providerUid") { $0.identity.providerUid.prefix(4) + "•••" }
        }
    }
}

extension Address {
    fileprivate var masked: String {
        switch self {
        case .email(let address):
            // The first characters of name and domain, and the last label of the domain.
            let parts = address.value.split(separator: "@")
                .map { (first: $0.prefix(1), last: $0.split(separator: ".").last) }
            guard parts.count == 2, let label = parts[1].last else { return "•••" }
            return "\(parts[0].first)•••@\(parts[1].first)•••.\(label)"
        case .phone(let number): return "\(number.range.dropLast(3))•••\(number.value.suffix(2))"
        }
    }
}

extension String {
    fileprivate var maskedName: String { prefix(1) + "•••" }
}
