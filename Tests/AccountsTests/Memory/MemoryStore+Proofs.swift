import Foundation
import ProviderKit

@testable import Accounts

extension MemoryRows {
    struct ProofRow: Sendable {
        let kind: ProofKind
        let proof: Proof
        let session: UUID?
        let expiresAt: Date
    }

    struct Challenge: Sendable {
        /// The id and attempts of another network that requested a code which was already sent.
        struct Alias: Sendable {
            let id: UUID
            let network: [UInt8]
            var attempts = 0
        }

        let new: NewChallenge
        let createdAt: Date
        var attempts = 0
        var aliases: [Alias] = []
    }

    struct Guesses: Sendable {
        var since: Date
        var wrong = 0
    }

    /// Returns the proof with this secret, if it is of that kind and has not expired.
    fileprivate func proof(_ kind: ProofKind, _ hash: [UInt8]) -> ProofRow? {
        proofs[hash].flatMap { $0.kind == kind && $0.expiresAt > now ? $0 : nil }
    }

    fileprivate mutating func discard(_ kind: ProofKind, _ provider: String, _ providerUid: String) {
        proofs = proofs.filter {
            $0.value.kind != kind || $0.value.proof.provider != provider || $0.value.proof.providerUid != providerUid
        }
    }
}

extension MemoryStore: ProofStore, MergeTicketStore {
    func issue(_ new: NewProof, application: Application.ID) async throws {
        try await run(application) { rows in
            rows.proofs[new.token.hash] = MemoryRows.ProofRow(
                kind: new.kind, proof: new.proof, session: new.session,
                expiresAt: rows.now.addingTimeInterval(new.lifetime.inSeconds))
        }
    }

    func peek(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof? {
        try await run(application) { $0.proof(kind, hash)?.proof }
    }

    func consume(_ kind: ProofKind, hash: [UInt8], application: Application.ID) async throws -> Proof? {
        try await run(application) { rows in
            guard let proof = rows.proof(kind, hash)?.proof else { return nil }
            rows.discard(kind, proof.provider, proof.providerUid)
            return proof
        }
    }

    func discard(_ kind: ProofKind, provider: String, providerUid: String, application: Application.ID) async throws {
        try await run(application) { $0.discard(kind, provider, providerUid) }
    }

    func lockMerge(byTicket hash: [UInt8], of principal: Principal) async throws -> TicketedMerge? {
        try await run(principal.application.id) { rows in
            guard let ticket = rows.proof(.mergeTicket, hash),
                rows.mayFinish(principal.sessionID, ticket.session),
                let session = rows.sessions[principal.sessionID], rows.isLive(session)
            else { return nil }
            let uids = [principal.uid] + [ticket.proof.uid].compactMap { $0 }
            return TicketedMerge(
                proof: ticket.proof, identity: session.identity, reading: rows.mergeReading(of: uids))
        }
    }

    func useMergeTicket(_ hash: [UInt8], application: Application.ID) async throws {
        try await run(application) { $0.proofs[hash] = nil }
    }
}

extension MemoryStore: ChallengeStore {
    func issue(_ new: NewChallenge, application: Application.ID) async throws -> IssuedChallenge {
        try await run(application) { rows in
            let earlier = rows.challenges.values.first { old in
                old.new.purpose == new.purpose && old.new.provider == new.provider && old.new.session == new.session
                    && (new.purpose != .proof || old.new.target.providerUid == new.target.providerUid)
            }
            if let earlier {
                let age = Duration.seconds(rows.now.timeIntervalSince(earlier.createdAt))
                if age < new.resendAfter, new.purpose == .proof || earlier.new.target == new.target {
                    return IssuedChallenge(id: rows.join(earlier, for: new), isNew: false, age: age)
                }
                rows.challenges[earlier.new.id] = nil
            }
            rows.challenges[new.id] = MemoryRows.Challenge(new: new, createdAt: rows.now)
            return IssuedChallenge(id: new.id, isNew: true, age: .zero)
        }
    }

    func attempt(_ answer: ChallengeResponse, application: Application.ID) async throws -> ChallengeTarget? {
        try await run(application) { rows in
            let found = rows.challenges.values.first { challenge in
                challenge.new.id == answer.id || challenge.aliases.contains { $0.id == answer.id }
            }
            guard var challenge = found, challenge.new.purpose == answer.purpose,
                challenge.new.provider == answer.provider, rows.mayFinish(answer.session, challenge.new.session),
                rows.now < challenge.createdAt.addingTimeInterval(challenge.new.lifetime.inSeconds)
            else { return nil }
            let alias = challenge.aliases.firstIndex { $0.id == answer.id }
            guard alias.map({ challenge.aliases[$0].attempts }) ?? challenge.attempts < 5 else { return nil }
            if let alias { challenge.aliases[alias].attempts += 1 } else { challenge.attempts += 1 }
            rows.challenges[challenge.new.id] = challenge
            let isRight = challenge.new.hash == answer.hash || challenge.new.code == answer.code
            guard rows.count(isRight: isRight, of: challenge.new.target.address, limit: alias == nil ? 500 : 100)
            else { return nil }
            return isRight ? challenge.new.target : nil
        }
    }

    func endChallenges(provider: String, providerUid: String, application: Application.ID) async throws {
        try await run(application) { rows in
            rows.challenges = rows.challenges.filter {
                let new = $0.value.new
                return new.purpose != .proof || new.provider != provider || new.target.providerUid != providerUid
            }
        }
    }

    func endAddressChange(of identity: UUID, application: Application.ID) async throws {
        try await run(application) { rows in
            rows.challenges = rows.challenges.filter { $0.value.new.purpose != .addressChange(identity) }
        }
    }
}

extension MemoryRows {
    /// Returns the challenge id for a repeated request: the first id on the same network, otherwise one per network.
    fileprivate mutating func join(_ challenge: Challenge, for new: NewChallenge) -> UUID {
        guard new.session == nil, challenge.new.network != new.network else { return challenge.new.id }
        if let alias = challenge.aliases.first(where: { $0.network == new.network }) { return alias.id }
        challenges[challenge.new.id]?.aliases.append(Challenge.Alias(id: new.id, network: new.network))
        return new.id
    }

    /// Counts a guess toward the address's limit of wrong guesses in a day.
    ///
    /// - Returns: `false` if the address has reached the limit.
    fileprivate mutating func count(isRight: Bool, of address: Address, limit: Int) -> Bool {
        var counted = guesses[address] ?? Guesses(since: now)
        if counted.since <= now.addingTimeInterval(-86400) { counted = Guesses(since: now) }
        guard counted.wrong < limit else { return false }
        counted.wrong += isRight ? 0 : 1
        guesses[address] = counted
        return true
    }
}

extension MemoryStore: FlowCodeStore {
    /// Refuses every code, because no test begins a redirect flow.
    func redeem(
        code: [UInt8], for use: FlowUse, tolerance: Duration, application: Application.ID
    ) async throws -> CodePresentation { .refused }

    func note(session: UUID, openedBy code: [UInt8], application: Application.ID) async throws {}

    func borrow(session: UUID, application: Application.ID) async throws {}
}
