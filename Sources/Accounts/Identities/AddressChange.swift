package import Foundation
internal import ProviderKit

/// Changes the address of an identity that consists of an address.
///
/// The old address remains until the code that was sent to the new one is presented. If two accounts request the same
/// address, the one that presents its code first gets it.
package struct AddressChange: Sendable {
    typealias Store = OneTimeCodes.Store & LinkWriter.Store & AddressChangeStore & RoleIdentityStore

    let store: any TransactionalStore & Store
    let codes: OneTimeCodes
    let tokens: SessionTokens

    /// Sends a code to the new address, which `typed` reads from the provider's field, even if it has another owner.
    /// - Throws: `AccountsError.identityNotFound`, `.invalidParameter`, `.otherIdentityRequired`;
    ///   `ProviderError.malformed`.
    package func begin(
        of id: UUID, typed: (_ field: String) -> String?, from client: Client, by principal: Principal
    ) async throws -> SentCode {
        let application = principal.application
        let identities = try await store.identities(of: principal.uid, application: application.id)
        guard let identity = identities.first(where: { $0.id == id }) else { throw AccountsError.identityNotFound }
        try await store.requireReach(of: principal, to: [id])
        let configured = try application.providers.named(identity.provider)
        guard let provider = configured.provider as? any ChallengeProvider else {
            throw AccountsError.identityNotFound
        }
        let field = type(of: provider).targetField
        guard let text = typed(field) else { throw AccountsError.missingParameter(field) }
        let target = try provider.target(typed: text)
        guard !identities.contains(where: { $0.provider == configured.name && $0.providerUid == target.providerUid })
        else { throw AccountsError.invalidParameter(field, reason: "is an identity of this account already") }
        return try await codes.send(
            .addressChange(id), to: target, of: configured, by: principal, from: client, in: application)
    }

    /// The newest change of the account that waits for its code.
    package func pending(of principal: Principal) async throws -> PendingAddressChange? {
        try await store.addressChange(of: principal.uid, application: principal.application.id)
    }

    /// Changes the address after a correct code.
    /// - Throws: `AccountsError.invalidCredentials`; `.otherIdentityRequired` if the identity got a role meanwhile;
    ///   `.identityInUse` for another account's address.
    package func complete(
        of id: UUID, with presented: PresentedOneTimeCode, by principal: Principal, from client: Client
    ) async throws -> ListedIdentity {
        let application = principal.application
        return try await store.retryingTransactionKeepingRefusals { store in
            let seen = try await store.identities(of: principal.uid, application: application.id)
            guard let identity = seen.first(where: { $0.id == id }) else { throw AccountsError.identityNotFound }
            let provider = try application.providers.named(identity.provider)
            let target = try await codes.prove(
                addressChange: presented, of: identity, from: client, in: application, store: store)
            let evidence = target.evidence
            let facts = LinkingFacts(store: store, application: application)
            let reading = try await facts.read(evidence, of: provider, requestedBy: principal)
            var state = reading.state
            guard state.requester != nil else { throw AccountsError.invalidToken }
            // The number of identities stays the same.
            state.requester?.isFull = false
            let verdict = decide(evidence, state: state, policy: LinkingPolicy(provider, in: application))
            try await facts.hold(
                reading, locking: state.accounts.union([principal.uid]), for: evidence, of: provider,
                requestedBy: principal)
            try await store.requireReach(of: principal, to: [id])
            switch verdict.outcome {
            case .link(let new, _), .upgrade(let new, _):
                let contact = reading.contacts[principal.uid] ?? OwnerContact()
                return try await change(
                    identity, to: target, new, of: provider, by: principal, notifying: contact, store: store)
            case .signIn: throw AccountsError.invalidCredentials
            default:
                let session = tokens.newSession(by: evidence, of: provider.name, from: client, in: application)
                let writer = LinkWriter(
                    session: session, principal: principal, contacts: [:], tokens: tokens, store: store)
                guard case .refused(let refusal) = try await writer.write(verdict) else { throw StoreConflict() }
                throw refusal
            }
        }
    }

    /// Notifies the old address, the new one, and the account's other addresses.
    private func change(
        _ identity: Identity, to target: ChallengeTarget, _ new: NewIdentity, of provider: ConfiguredProvider,
        by principal: Principal, notifying contact: OwnerContact, store: any Store
    ) async throws -> ListedIdentity {
        let application = principal.application
        let old = [identity.email.map(Address.email), identity.phone.map(Address.phone)].compactMap { $0 }
        try await NumberRecycling(store: store, application: application).displace(new.displacing)
        try await store.changeAddress(
            of: identity.id, uid: principal.uid, to: target, claiming: new.claiming, application: application.id)
        try await store.evictUnprovenClaims(on: [target.address], owner: principal.uid, application: application.id)
        // Codes and links that were sent to the old address become invalid.
        try await store.endChallenges(
            provider: provider.name, providerUid: identity.providerUid, application: application.id)
        for kind in [ProofKind.passwordReset, .signInLink] {
            try await store.discard(
                kind, provider: provider.name, providerUid: identity.providerUid, application: application.id)
        }
        try await store.enqueue(
            Set(contact.noticeAddresses + old + [target.address]).map {
                Message(.addressChanged, to: $0, provider: provider.displayName, locale: contact.languages)
            }, about: principal.uid, application: application.id)
        let changed = try await store.identities(of: principal)
        guard let listed = changed.first(where: { $0.identity.id == identity.id }) else { throw StoreConflict() }
        return listed
    }
}
