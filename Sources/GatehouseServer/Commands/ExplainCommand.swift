internal import Accounts
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
    @Option(help: "The uid of a signed-in account that links the identity. Without it the evidence signs in.")
    var account: String?
    @Option(help: "What a guest chooses if the identity has an account: keep, switch or merge.")
    var onConflict: String = ConflictChoice.keep.rawValue

    func run(installed: InstalledProviders) async throws {
        let evidence = try EvidenceFile(path: evidence).evidence
        guard let choice = ConflictChoice(rawValue: onConflict) else {
            throw ValidationError("--on-conflict takes keep, switch or merge")
        }
        let uid = try account.map(UUID.argument)
        try await options.withBackend(installed) { backend in
            let applications = try await backend.applications(
                named: application ?? backend.configuration.defaultApplication)
            guard let application = applications.first else { return }
            guard let provider = application.providers.all.first(where: { $0.name == self.provider }) else {
                throw ServerError.unknownProvider(self.provider)
            }
            do {
                let explanation = try await LinkingExplainer(store: backend.store).explain(
                    evidence, of: provider, requestedBy: uid, onConflict: choice, in: application)
                print(explanation.lines.joined(separator: "\n"))
            } catch AccountsError.accountNotFound(let uid) {
                throw ServerError.unknownAccount(uid)
            } catch ProviderError.refused {
                throw ServerError.unusableEvidence("providerUid is empty, or longer than 255 bytes")
            }
        }
    }
}

/// A file with evidence.
private struct EvidenceFile: Decodable {
    let providerUid: String
    let email: String?
    let emailVerified: Bool?
    let phone: String?
    let phoneVerified: Bool?
    let trusted: Bool?
    let displayName: String?

    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ServerError.unusableEvidence("\(path) can't be read")
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw ServerError.unusableEvidence("\(path) is not a JSON object with a providerUid")
        }
    }

    var evidence: VerifiedIdentity {
        get throws {
            var claims: [AddressClaim] = []
            if let email {
                guard let address = EmailAddress(email) else {
                    throw ServerError.unusableEvidence("email is not an address")
                }
                claims.append(claim(.email(address), isVerified: emailVerified))
            }
            if let phone {
                guard let number = PhoneNumber(phone) else {
                    throw ServerError.unusableEvidence("phone is not a number in international form")
                }
                claims.append(claim(.phone(number), isVerified: phoneVerified))
            }
            return VerifiedIdentity(providerUid: providerUid, addresses: claims, displayName: displayName)
        }
    }

    private func claim(_ address: Address, isVerified: Bool?) -> AddressClaim {
        AddressClaim(address: address, isVerified: isVerified ?? false, isAuthoritative: trusted ?? true)
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
            + [
                "identity: \(state.identity.map { "of \($0.uid.text), \($0.status.words)\($0.needsOtherSignIn ? ", quarantined" : "")" } ?? "unknown")"
            ]
            + state.owners.map { owner in
                "address:  \(owner.address.kind.rawValue) of \(owner.uid.text), \(owner.status.words)"
                    + (owner.isIdle ? ", idle" : "") + (owner.needsOtherSignIn ? ", quarantined" : "")
            }
            + (state.requester.map { ["asked by: \($0.uid.text)\($0.isGuest ? ", a guest" : "")"] } ?? [])
            + ["policy:   mode \(policy.mode.rawValue), linking.automatic \(policy.automatic.rawValue)"]
            + (policy.restoresOnSignIn ? ["          deletion.restoreOnSignIn"] : [])
    }
}

extension LinkingOutcome {
    fileprivate var words: String {
        switch self {
        case .signIn(.known(let identity)): "signs in to \(identity.uid.text)"
        case .signIn(.joining(_, let uid)): "joins \(uid.text) and signs in to it"
        case .restore(let match, _): "restores \(match.uid.text) and signs in to it"
        case .create: "opens a new account"
        case .link(_, let uid): "is linked to \(uid.text)"
        case .upgrade(_, let guest): "makes the guest \(guest.text) permanent"
        case .replaceGuest(let entry, let isAbsorbed):
            isAbsorbed ? "\(entry.uid.text) absorbs the guest" : "leaves the guest for \(entry.uid.text)"
        case .conflict(with: let uid, offersMerge: true): "is refused, with a ticket to merge with \(uid.text)"
        case .conflict(with: let uid, offersMerge: false):
            "is refused, without a ticket: a sign-in would not reach \(uid.text)"
        case .otherSignInRequired(of: let uid, subject: _):
            "is refused until \(uid.text) is signed in to in another way"
        case .deleted(uid: let uid, purgeAfter: _, offersRestore: true):
            "is refused, with a token that restores \(uid.text)"
        case .deleted(uid: let uid, purgeAfter: _, offersRestore: false):
            "is refused, without a restore token: the proof does not sign in to \(uid.text)"
        case .disabled, .full, .refuse: "is refused"
        }
    }
}

extension AccountStatus {
    fileprivate var words: String {
        switch self {
        case .live: "live"
        case .disabled: "disabled"
        case .deleted: "being deleted"
        case .absorbed(let uid): "absorbed by \(uid.text)"
        }
    }
}
