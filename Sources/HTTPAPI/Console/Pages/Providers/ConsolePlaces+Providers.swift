internal import Console
internal import ProviderKit

extension ConsolePlaces {
    static let providers: [ConsolePlace] = [
        ConsolePlace("/providers") { try await $0.providersPage() },
        ConsolePlace("/providers/check", forms: ["/providers/check"]) { try await $0.newProviderPage() },
        ConsolePlace("/providers/{name}", forms: ["/providers/{name}/plan", "/providers/{name}/diagnose"]) {
            try await $0.providerPage()
        },
        ConsolePlace("/providers/{name}/switch", forms: ["/providers/{name}/switch"], isOfForm: true) {
            try await $0.switchPage()
        },
        ConsolePlace("/explain", forms: ["/explain"]) { try await $0.explainPage() },
    ]

    static let providerAnswers: [ConsoleAnswer] = [
        ConsoleAnswer("/providers/{name}/plan") { request, plan, _ in request.planPage(plan) },
        ConsoleAnswer("/providers/{name}/diagnose") { request, diagnosis, _ in request.diagnosisPage(diagnosis) },
        ConsoleAnswer("/providers/check") { request, answer, fields in
            try request.newProviderPage(checked: answer, fields)
        },
        ConsoleAnswer("/explain") { request, explanation, fields in
            try request.explainPage(explanation, of: fields)
        },
    ]

    static let providerReadings: [String: ConsoleReading] = [
        "/providers/check": { request, _, fields in [try NewProviderForm.body(from: fields, in: request)] }
    ]
}
