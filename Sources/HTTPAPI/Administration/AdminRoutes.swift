internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

/// The admin API: every operation at its method and path.
struct AdminRoutes {
    let useCases: AdministrationUseCases

    var endpoints: [Endpoint] { access + explanations + acts + notes + accountReading + statistics + providers + invitations }
}
