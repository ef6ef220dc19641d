internal import Accounts
internal import Administration
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// Providers, what a switch of one would do, and switching.
    var providers: [Endpoint] {
        let operations = SwitchOperations(useCases: useCases)
        return [
            operations.list.at(
                .get, "/providers", "The application's providers, with their modes and health", takes: .list(),
                returns: .json { ListPayload($0) }),
            operations.plan.at(
                .post, "/providers/{name}/plan", "Counts what another mode of a provider would do",
                takes: .named(PlanBody.self, by: "name"), returns: .json),
            operations.change.at(
                .put, "/providers/{name}/switch", "Switches a provider to the mode of a plan",
                takes: .named(Act<SwitchBody>.self, by: "name"), returns: .json),
            operations.end.at(
                .post, "/providers/{name}/switch/end", "Ends the switch of a provider",
                takes: .named(Act<NoFields>.self, by: "name"), returns: .json),
        ]
    }
}

struct SwitchOperations {
    let useCases: AdministrationUseCases

    var list: AdminOperation<AdminQuery, Page<ProviderStatus>> {
        AdminOperation("providers.list", scope: .readServer) { request, query in
            let providers = try await useCases.providers.list(of: request.application)
            return try request.page(of: providers, asked: query, in: "providers", id: \.provider.name)
        }
    }

    var change: AdminOperation<(name: String, body: Act<SwitchBody>), ProviderStatus> {
        AdminOperation(
            "providers.switch", scope: .writeProviders, hasOwnCapacity: true, needsProof: true,
            errors: [.notFound, .planStale, .confirmationRequired, .wrongState, .wouldLockOutAdmins]
        ) { request, input in
            let act = try request.actWithoutNote(input.body)
            _ = try await useCases.providerSwitches.change(
                input.name, as: input.body.body.request, by: act, home: request.settings.home,
                you: request.administrator.person?.uid, in: request.application)
            return try await useCases.providers.status(of: input.name, in: request.application)
        }
    }

    var end: AdminOperation<(name: String, body: Act<NoFields>), ProviderStatus> {
        AdminOperation("providers.endSwitch", scope: .writeProviders, errors: [.notFound]) { request, input in
            let act = try request.actWithoutNote(input.body)
            try await useCases.providerSwitches.end(input.name, by: act, in: request.application)
            return try await useCases.providers.status(of: input.name, in: request.application)
        }
    }

    var plan: AdminOperation<(name: String, body: PlanBody), ProviderPlan> {
        AdminOperation(
            "providers.plan", scope: .writeProviders, hasOwnCapacity: true, errors: [.notFound]
        ) { request, input in
            try await useCases.providerPlans.plan(
                input.name, to: input.body.mode, home: request.settings.home, you: request.administrator.person?.uid,
                in: request.application)
        }
    }
}
