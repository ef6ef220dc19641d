internal import Accounts
internal import Administration
internal import ArgumentParser
internal import Foundation
internal import ProviderKit

/// `gatehouse explain`.
struct ExplainCommand: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows what a sign-in or a link would lead to, and by which rule, without changing anything.",
        discussion: """
            The evidence is a JSON object with providerUid and optionally email, emailVerified, phone, phoneVerified
            and displayName. A verified address counts as confirmed by a trusted source unless "trusted" is false.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The application. Default: the default application.")
    var application: String?
    @Option(help: "The provider's configured name.")
    var provider: String
    @Option(help: "The file with the evidence.")
    var evidence: String
    @Option(
        help: "The uid of a signed-in account that links the identity. Without it the evidence signs in.",
        transform: UUID.argument)
    var account: UUID?
    @Option(help: "What a guest chooses if the identity has an account.")
    var onConflict = ConflictChoice.keep

    func run(installed: InstalledProviders) async throws {
        var question = LinkingQuestion(of: provider, with: try StatedEvidence(path: evidence))
        question.onConflict = onConflict
        question.asking = account
        try await options.withBackend(installed) { [question] backend in
            let application = try await backend.application(named: application)
            do {
                let explanation = try await question.answer(from: backend.store, in: application)
                print(explanation.lines.joined(separator: "\n"))
            } catch AccountsError.unsupportedProvider(let name) {
                throw ServerError.unknownProvider(name)
            } catch AccountsError.accountNotFound(let uid) {
                throw ServerError.unknownAccount(uid)
            } catch AccountsError.invalidParameter(let name, let reason) {
                throw ServerError.unusableEvidence("\(name) \(reason)")
            }
        }
    }
}

extension ConflictChoice: ExpressibleByArgument {}

extension StatedEvidence {
    /// Reads a JSON file.
    fileprivate init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ServerError.unusableEvidence("\(path) can't be read")
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw ServerError.unusableEvidence("\(path) is not a JSON object with a providerUid")
        }
    }
}

extension Explanation {
    /// The printed lines: the verdict, then the state and the policy that led to it.
    var lines: [String] {
        [
            "verdict:  \(verdict.outcome.words)", "rule:     \(verdict.rule.rawValue)",
            "because:  \(verdict.rule.reason)",
        ]
            + verdict.refusal.remedies.map { "remedy:   \($0)" }
            + ["identity: \(identityWords)"]
            + state.owners.map { owner in
                "address:  \(owner.address.kind.rawValue) of \(owner.uid.text), \(owner.status.words)"
                    + (owner.isIdle ? ", idle" : "") + (owner.needsOtherSignIn ? ", quarantined" : "")
            }
            + (state.requester.map { ["asked by: \($0.uid.text)\($0.isGuest ? ", a guest" : "")"] } ?? [])
            + ["policy:   mode \(policy.mode.rawValue), linking.automatic \(policy.automatic.rawValue)"]
            + (policy.restoresOnSignIn ? ["          deletion.restoreOnSignIn"] : [])
    }

    private var identityWords: String {
        guard let identity = state.identity else { return "unknown" }
        return "of \(identity.uid.text), \(identity.status.words)"
            + (identity.needsOtherSignIn ? ", quarantined" : "")
    }
}
