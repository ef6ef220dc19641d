internal import Accounts
package import Administration
internal import Foundation
package import ProviderKit

extension ProviderMode: SentChoice, ResponseValue {
    package func write(to json: inout JSONObjectWriter) { rawValue.write(to: &json) }
}

struct PlanBody: RequestPayload {
    let mode: ProviderMode

    static let fields = RequestFields(Self.init, .init("mode"))
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

    private var effectOfChange: EffectOfChange { EffectOfChange(change: change, effect: effect) }
}

/// The counts of a plan.
struct EffectOfChange: ResponsePayload {
    let change: ModeChange
    let effect: ModeEffect

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
        Field("sessions") { Sessions(openedByIt: $0.effect.sessionsOpened, ofStranded: $0.effect.sessionsOfStranded) }
        Field("signIns7d", \.effect.recentSignIns)
        Field("flowsUnderWay", \.effect.flowsUnderWay)
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
