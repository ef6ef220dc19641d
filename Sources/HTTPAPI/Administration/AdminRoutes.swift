internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

/// The admin API: every operation at its method and path.
struct AdminRoutes {
    let useCases: AdministrationUseCases
    /// The routes of clients, whose calls the limit `general` counts one by one.
    let limitedRoutes: [String]

    var endpoints: [Endpoint] {
        access + accountReading + acts + notes + invitations + explanations + providers + operations + statistics
            + diagnosis
    }
}
