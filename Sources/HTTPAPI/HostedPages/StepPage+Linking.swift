internal import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

extension StepPage.Link {
    init(_ step: ShownStep, at url: String, of issuer: Issuer) {
        let providers = issuer.application.providers
        let name = step.request.linksProvider ?? ""
        let proof: Proof =
            switch (try? providers.named(name))?.addressKind {
            case .email?: .mail
            case .phone?: .phone
            case nil: .elsewhere(name: name, url: "\(url.prefix { $0 != "?" })/with/\(name)")
            }
        self.init(provider: providers.displayName(of: name), proof: proof)
        identifier = step.typed
    }
}

extension StepPage.Conflict {
    /// A page of a merge that is no longer possible shows the conflict, too.
    init(_ step: ShownStep, at issuer: Issuer) {
        let conflict = step.progress.pending?.conflict
        self.init(
            provider: issuer.application.providers.displayName(of: conflict?.provider ?? ""),
            rule: conflict?.rule ?? "", canMerge: conflict?.ticket != nil && step.name == .conflict,
            isOfGuest: step.account?.session.isGuest == true)
    }
}

extension StepPage.Merge {
    init(_ preview: MergePreview, in application: Application) {
        let preferred = (try? preview.plan(nil, in: application))?.survivor
        let choices = [SurvivorChoice.current, .other].compactMap { choice -> Choice? in
            guard let plan = try? preview.plan(choice, in: application) else { return nil }
            let isCurrent = choice == .current
            let (kept, lost) = isCurrent ? (preview.current, preview.other) : (preview.other, preview.current)
            var shown = Choice(
                value: choice.rawValue, account: StepPage.Account(kept, in: application), isCurrent: isCurrent)
            shown.isPreferred = plan.survivor == preferred
            shown.moved = plan.identities.map { $0.name(in: application) }
            shown.taken =
                (plan.displayName.map { [Value(name: nil, text: $0)] } ?? [])
                + plan.metadata.sorted { $0.key < $1.key }.map { Value(name: $0.key, text: $0.value.shown) }
            shown.differences = plan.collisions.map { name in
                guard let key = name.metadataKey else {
                    return Difference(name: nil, kept: kept.displayName ?? "", lost: lost.displayName ?? "")
                }
                return Difference(
                    name: key, kept: kept.metadata[key]?.shown ?? "", lost: lost.metadata[key]?.shown ?? "")
            }
            (shown.endedSessions, shown.dropsGuest) = (plan.endedSessions, !plan.guests.isEmpty)
            return shown
        }
        let window = application.policy.undoWindow.inSeconds
        self.init(choices: choices, undoUntil: preview.time.addingTimeInterval(window))
    }
}

extension StepPage.Account {
    fileprivate init(_ side: MergeSide, in application: Application) {
        let address = side.addresses.first?.value ?? side.identities.first { !$0.isGuest }?.name(in: application)
        self.init(id: side.uid.text, name: side.displayName, address: address, isSignedIn: true)
    }
}

extension String {
    /// The key in the name of a value that differs, such as `theme` in `metadata.theme`; `nil` for the display name.
    fileprivate var metadataKey: String? {
        let prefix = "metadata."
        return hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

extension JSONValue {
    /// The value as the page of a merge shows it, shortened.
    fileprivate var shown: String {
        let text = string ?? (try? String(decoding: JSONEncoder().encode(self), as: UTF8.self)) ?? ""
        return text.count > 80 ? "\(text.prefix(80))…" : text
    }
}
