package import Accounts
package import Foundation
internal import ProviderKit

/// Looking at what keeps a person or a client out, and lifting it.
///
/// An unknown subject looks like one without locks.
package struct SubjectLocks: Sendable {
    package typealias Store = LockStore & BoundedTransactions

    let store: any TransactionalStore & Store
    let trail: any AuditTrail
    let opaque: any OpaqueTokens
    let limits: any LiftableLimits

    /// The locks of a subject; `routes` are those whose calls the limit `general` counts.
    package func search(
        _ subject: LimitedSubject, routes: [String], by act: AdministrativeAct, in application: Application
    ) async throws -> [SubjectLock] {
        let locks = try await store.transaction(within: .administration) { store in
            try await self.locks(of: subject, routes: routes, in: application, store: store).locks
        }
        let details = act.details(adding: [
            "kind": .string(subject.kindName), "hits": .integer(Int64(locks.count)),
        ])
        try await trail.record(AuditEntry(.limitsSearched, details: details), application: application.id)
        return locks
    }

    /// The account that owns the subject's address.
    package func owner(of subject: LimitedSubject, in application: Application) async throws -> UUID? {
        guard case .address(let address) = subject else { return nil }
        return try await store.owner(of: address, application: application.id)
    }

    /// Removes the counters of a subject at every replica, also those that do not lock yet, except wrong codes.
    ///
    /// Locks bound how often a secret is guessed, so those of a subject are lifted only a few times a day.
    /// - Returns: the locks that held.
    /// - Throws: `AccountsError.rateLimited`.
    package func lift(
        _ subject: LimitedSubject, routes: [String], by act: AdministrativeAct, in application: Application
    ) async throws -> [SubjectLock] {
        try await limits.spend(.adminLift, of: RateSubject(target: subject.limitName), in: application)
        let locks = try await store.transaction(within: .administration) { store in
            let found = try await self.locks(of: subject, routes: routes, in: application, store: store)
            try await store.removeLocks(found.keys, of: found.owner, by: act, application: application.id)
            return found.locks
        }
        limits.forgetRefusals()
        return locks
    }

    private func locks(
        of subject: LimitedSubject, routes: [String], in application: Application, store: any LockStore
    ) async throws -> (locks: [SubjectLock], keys: LockKeys, owner: UUID?) {
        var owner: UUID?
        var kind: Address.Kind?
        if case .address(let address) = subject {
            owner = try await store.owner(of: address, application: application.id)
            kind = address.kind
        }
        let keys = opaque.lockKeys(of: subject, owner: owner, routes: routes, by: limits, in: application)
        return (try await store.locks(keys, of: kind, application: application.id), keys, owner)
    }
}

extension LimitedSubject {
    /// The name of the field of a request that names the subject.
    fileprivate var kindName: String {
        switch self {
        case .address(let address): address.kind.rawValue
        case .client: "address"
        }
    }

    /// The name under which lifts of the subject's locks are counted.
    fileprivate var limitName: String {
        switch self {
        case .address(let address): "lift \(address.kind.rawValue) \(address.value)"
        case .client(let address): "lift address \(address)"
        }
    }
}
