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

        private var displayName: String? { plan.displayName.map(Mask.name) }

        static let fields = ResponseFields<Self>("MergeForecastMoves") {
            Field("identities") { $0.plan.identities.map(MovedIdentity.init) }
            Field("addresses") { $0.plan.addresses.map(Mask.address) }
            Field("displayName", ifAny: \.displayName)
            // The names of the members.
            Field("metadata") { $0.plan.metadata.keys.sorted() }
        }
    }

    private struct MovedIdentity: ResponsePayload {
        let identity: Identity

        static let fields = ResponseFields<Self>("MergeForecastIdentity") {
            Field("id", \.identity.id)
            Field("provider", \.identity.provider)
            Field("providerUid") { Mask.providerUid($0.identity.providerUid) }
        }
    }
}
