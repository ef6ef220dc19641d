internal import Accounts
internal import Administration
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// Providers, what a switch of one would do, and switching.
    var providers: [Endpoint] {
        let operations = SwitchOperations(useCases: useCases)
        return [
            operations.plan.at(
                .post, "/providers/{name}/plan", "Counts what another mode of a provider would do",
                takes: .named(PlanBody.self, by: "name"), returns: .json)
        ]
    }
}

struct SwitchOperations {
    let useCases: AdministrationUseCases

    var plan: AdminOperation<(name: String, body: PlanBody), ProviderPlan> {
        AdminOperation("providers.plan", scope: .writeProviders, errors: [.notFound]) { call, input in
            try await useCases.providerPlans.plan(
                input.name, to: input.body.mode, home: call.settings.home, in: call.application)
        }
    }
}
