internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

/// The admin API: every operation at its method and path.
struct AdminRoutes {
    let useCases: AdministrationUseCases
    /// The routes outside the admin API and the console, for each of which the limit `general` counts separately.
    let limitedRoutes: [String]

    var endpoints: [Endpoint] {
        access + accountReading + acts + notes + invitations + explanations + providers + operations + statistics
            + diagnosis
    }
}
