internal import Administration
internal import Hummingbird

extension AdminRoutes {
    /// Checking providers together with the services behind them.
    var diagnosis: [Endpoint] {
        let operations = DiagnosisOperations(useCases: useCases)
        return [
            operations.diagnose.at(
                .post, "/providers/{name}/diagnose", "Checks a provider and its service", takes: .providerName,
                returns: .json { DiagnosisResponse(checks: $0) }),
            operations.check.at(
                .post, "/providers/check", "Checks settings of a provider that is not configured", takes: .json,
                returns: .json { CandidateResponse(candidate: $0.candidate, checks: $0.checks) }),
        ]
    }
}

struct DiagnosisOperations {
    let useCases: AdministrationUseCases

    var diagnose: AdminOperation<String, [CheckResult]> {
        AdminOperation(
            "providers.diagnose", scope: .writeProviders, hasOwnCapacity: true, errors: [.notFound]
        ) { request, name in
            try await useCases.diagnosis.diagnose(name, by: request.act(), in: request.application)
        }
    }

    var check: AdminOperation<CandidateBody, (candidate: ProviderCandidate, checks: [CheckResult])> {
        AdminOperation(
            "providers.check", scope: .writeProviders, hasOwnCapacity: true, errors: [.invalidProviderSettings]
        ) { request, body in
            let settings = CandidateSettings(name: body.name, kind: body.kind, settings: body.settings)
            return try await useCases.diagnosis.check(settings, by: request.act(), in: request.application)
        }
    }
}

extension RequestShape<String> {
    /// Reads the path parameter `name`; the body is ignored.
    fileprivate static var providerName: Self { Self { $0["name"] } }
}
