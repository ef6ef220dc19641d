package import Foundation

extension StepPage {
    /// The page that begins the link of an identity.
    package struct Link: Sendable {
        /// How the identity is proven: by a code to an address, or at the URL of the provider with this name.
        package enum Proof: Sendable { case mail, phone, elsewhere(name: String, url: String) }

        /// The provider's name for people.
        package let provider: String
        package let proof: Proof
        /// The address that is filled in.
        package var identifier: String?

        package init(provider: String, proof: Proof) { (self.provider, self.proof) = (provider, proof) }
    }

    /// An identity that another account has.
    package struct Conflict: Sendable {
        /// The provider's name for people.
        package let provider: String
        /// The rule that refuses the link.
        package let rule: String
        /// Whether the proof also permits merging the accounts.
        package let canMerge: Bool
        /// Whether the account that is signed in is a guest's, which can be given up.
        package let isOfGuest: Bool

        package init(provider: String, rule: String, canMerge: Bool, isOfGuest: Bool) {
            (self.provider, self.rule, self.canMerge, self.isOfGuest) = (provider, rule, canMerge, isOfGuest)
        }
    }

    /// Two accounts that are about to become one.
    package struct Merge: Sendable {
        /// What a merge does if this account stays.
        package struct Choice: Sendable {
            /// The value that the form posts.
            package let value: String
            package let account: Account
            /// Whether the account is the one that is signed in.
            package let isCurrent: Bool
            package var isPreferred = false
            /// The identities that move to the account.
            package var moved: [String] = []
            /// The values that the account lacks and takes over.
            package var taken: [Value] = []
            /// The values in which the accounts differ.
            package var differences: [Difference] = []
            /// The number of sessions that end.
            package var endedSessions = 0
            package var dropsGuest = false

            package init(value: String, account: Account, isCurrent: Bool) {
                (self.value, self.account, self.isCurrent) = (value, account, isCurrent)
            }
        }

        /// A value of an account; its name is `nil` if it is what the person is called.
        package struct Value: Sendable {
            package let name: String?
            package let text: String

            package init(name: String?, text: String) { (self.name, self.text) = (name, text) }
        }

        /// A value in which the accounts differ.
        package struct Difference: Sendable {
            package let name: String?
            package let kept, lost: String

            package init(name: String?, kept: String, lost: String) {
                (self.name, self.kept, self.lost) = (name, kept, lost)
            }
        }

        package let choices: [Choice]
        /// Until when the merge can be undone.
        package let undoUntil: Date

        package init(choices: [Choice], undoUntil: Date) { (self.choices, self.undoUntil) = (choices, undoUntil) }
    }

    func values(of link: Link) -> [String: Any] {
        var values: [String: Any] = ["provider": link.provider]
        switch link.proof {
        case .mail: values["isMail"] = true
        case .phone: values["isPhone"] = true
        case .elsewhere(let name, let url):
            (values["url"], values["hasProviders"]) = (url, true)
            values["providers"] = [["name": name, "url": url, "displayName": link.provider]]
        }
        values["sendsCode"] = values["url"] == nil
        values["identifier"] = link.identifier
        return values
    }

    func values(of conflict: Conflict) -> [String: Any] {
        [
            "provider": conflict.provider, "canMerge": conflict.canMerge, "isOfGuest": conflict.isOfGuest,
            "canSwitch": conflict.canMerge && conflict.isOfGuest,
            "reason": text("conflict.\(conflict.rule)", ["provider": conflict.provider]) ?? "",
        ]
    }

    func values(of merge: Merge) -> [String: Any] {
        [
            "until": language.text(ofTime: merge.undoUntil),
            "choices": merge.choices.map { choice in
                values(of: choice.account).merging([
                    "value": choice.value, "isCurrent": choice.isCurrent, "isPreferred": choice.isPreferred,
                    "moved": choice.moved, "hasMoved": !choice.moved.isEmpty,
                    "taken": choice.taken.map { ["label": label(of: $0.name), "value": $0.text] },
                    "differences": choice.differences.map {
                        ["label": label(of: $0.name), "kept": $0.kept, "lost": $0.lost]
                    },
                    "sessions": choice.endedSessions, "endsSessions": choice.endedSessions > 0,
                    "dropsGuest": choice.dropsGuest,
                ]) { $1 }
            },
        ]
    }

    private func label(of value: String?) -> String { value ?? text("name", [:]) ?? "" }
}
