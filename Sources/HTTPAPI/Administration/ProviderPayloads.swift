internal import Accounts
package import Administration
internal import Foundation
package import ProviderKit

extension ProviderMode: ResponseValue {
    package func write(to json: inout JSONObjectWriter) { rawValue.write(to: &json) }
}

struct PlanBody: RequestPayload {
    let mode: ProviderMode

    static let fields = RequestFields(Self.init, .init("mode"))
}

struct SwitchBody: RequestPayload {
    /// What happens to the sessions that the provider has opened.
    enum Sessions: String, SentChoice { case keep, end }

    /// The id of a plan; a text that can't be one is a plan that is unknown.
    let plan: String
    let confirm: String?
    let until: SentTime?
    let notify: Bool?
    let sessions: Sessions?

    static let fields = RequestFields(
        Self.init, .init("plan"), .init("confirm"), .init("until"), .init("notify"), .init("sessions"))

    var request: SwitchRequest {
        SwitchRequest(
            plan: UUID(uuidString: plan), confirm: confirm, until: until?.date, notifies: notify ?? false,
            endsSessions: sessions == .end)
    }
}

extension ProviderSwitch: ResponsePayload {
    package static let fields = ResponseFields<Self>("ProviderSwitch") {
        Field("id", \.id)
        Field("mode", \.mode)
        Field("since", \.since)
        Field("until", \.until)
    }
}

extension ProviderStatus: NamedList {
    static let listName = "AdministeredProviders"
}

extension ProviderStatus: ResponsePayload {
    package static let fields = ResponseFields<Self>("ProviderStatus") {
        Field("name", \.provider.name)
        Field("kind", \.provider.kind)
        Field("line", orNull: \.provider.declaration.line)
        Field("mode", \.mode)
        Field("fileMode", \.provider.declaration.mode)
        Field("switch", ifAny: \.switched)
        Field("flow", as: .choice(of: ProviderFlow.self), \.provider.flow.rawValue)
        Field("callbackURL", orNull: \.callbackURL)
        Field("health") { HealthPayload(report: $0.report) }
        Field("last24h") { ActivityPayload(report: $0.report) }
        Field("secretExpires", ifAny: \.secretExpires)
    }

    /// The day, which is the first ten characters of a time.
    private var secretExpires: String? {
        provider.declaration.secretExpires.map { String(Timestamp($0).text.prefix(10)) }
    }

    struct HealthPayload: ResponsePayload {
        let report: ProviderReport

        static let fields = ResponseFields<Self>("ProviderHealth") {
            Field("state", as: .choice(of: ProviderReport.State.self), \.report.state.rawValue)
            Field("lastSuccess", orNull: \.report.lastSuccess)
            Field("findings", \.report.findings)
        }
    }

    struct ActivityPayload: ResponsePayload {
        let report: ProviderReport

        static let fields = ResponseFields<Self>("ProviderActivity") {
            Field("signIns", \.report.signIns)
            Field("signUps", \.report.signUps)
            Field("failures", \.report.failures)
        }
    }
}

extension ProviderReport.Finding: ResponsePayload {
    package static let fields = ResponseFields<Self>("ProviderFinding") {
        Field("id", as: .choice(of: ProviderFinding.self), \.finding.rawValue)
        Field("count", \.count)
        Field("lastSeen", \.lastSeen)
        Field("sentence", \.finding.sentence)
        Field("remedy", \.finding.remedy)
    }
}

extension ProviderPlan: ResponsePayload {
    package static let fields = ResponseFields<Self>("ProviderPlan") {
        Field("id", \.id)
        Field("validUntil", \.validUntil)
        Field(flattening: \.effectOfChange)
        Field("admins", \.admins)
        Field("sample", \.effect.sample)
        Field("confirm", \.confirm)
        Field("yaml", \.yaml)
    }

    private var effectOfChange: EffectOfChange { EffectOfChange(change: change, effect: effect, traffic: traffic) }
}

/// The counts of a plan.
struct EffectOfChange: ResponsePayload {
    let change: ModeChange
    let effect: ModeEffect
    let traffic: ProviderTraffic

    static let fields = ResponseFields<Self>("EffectOfChange") {
        Field("provider", \.change.provider)
        Field("from", \.change.from)
        Field("to", \.change.to)
        Field("identities", \.effect.identities)
        Field("accounts", \.effect.accounts)
        Field("inGrace", \.effect.inGrace)
        Field("stranded", \.effect.stranded)
        Field("detour", \.effect.detour)
        Field("unaffected", \.effect.unaffected)
        Field("rules", \.rules)
        Field("sessions") { Sessions(openedByIt: $0.traffic.sessions, ofStranded: $0.effect.sessionsOfStranded) }
        Field("signIns7d", \.traffic.recentSignIns)
        Field("flowsUnderWay", \.traffic.flowsUnderWay)
    }

    private var rules: [Rule] {
        change.rule.map { [Rule(rule: $0, accounts: effect.stranded + effect.detour)] } ?? []
    }

    struct Rule: ResponsePayload {
        let rule: LinkingRule
        let accounts: Int

        static let fields = ResponseFields<Self>("PlannedRule") {
            Field("rule", \.rule.rawValue)
            Field("accounts", \.accounts)
            Field("reason", \.rule.reason)
            Field("remedies", \.rule.remedies)
        }
    }

    struct Sessions: ResponsePayload {
        let openedByIt, ofStranded: Int

        static let fields = ResponseFields<Self>("PlannedSessions") {
            Field("openedByIt", \.openedByIt)
            Field("ofStranded", \.ofStranded)
        }
    }
}

extension AdminImpact: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminImpact") {
        Field("affected", \.affected)
        Field("lastOwner", \.lastOwner)
        Field("you", \.you)
    }
}
