package import Accounts
package import Foundation
internal import Postgres

extension SQLStore: PersonalDataStore {
    package func personalData(
        _ section: PersonalDataSection, of uid: UUID, application: Application.ID, after key: String?, atMost count: Int
    ) async throws -> [PersonalDataRow] {
        var binds: [Bind] = [.application(application), .uuid(uid), .text(key ?? ""), .int(count)]
        switch section {
        case .messages: binds.append(.bytesArray(try await marks(of: uid, application: application)))
        case .redirectFlows:
            let subjects = try await identities(of: uid, application: application)
                .map { sealing.mark(of: $0.providerUid, at: $0.provider) }
            binds.append(.bytesArray(try await marks(of: uid, application: application) + subjects))
        case .adminNotes: return try await personalNotes(binds, application: application)
        default: break
        }
        return try await run(section.statement, binds).decoded { row in
            PersonalDataRow(key: try row.next(), columns: try row.next())
        }
    }

    private static let selectPseudonyms = Statement(
        .read, family, "SELECT sha256(audit_key || uuid_send(uid)) FROM accounts", ofFamily, "ORDER BY uid <> $2, uid")

    package func pseudonyms(of uid: UUID, application: Application.ID) async throws -> [[UInt8]] {
        try await run(Self.selectPseudonyms, [.application(application), .uuid(uid)]).decoded { try $0.next() }
    }
}

extension PersonalDataSection {
    /// The statement that reads the section.
    ///
    /// Its columns are a sort key, which is never empty, and the row as JSON; rows are ordered by the key. Only the
    /// columns that are named here are exported; secrets and values derived from them are left out.
    fileprivate var statement: Statement {
        switch self {
        case .account: Self.account
        case .aliases: Self.aliases
        case .identities: Self.identities
        case .addresses: Self.addresses
        case .passwords: Self.passwords
        case .providerTokens: Self.providerTokens
        case .tokenRevocations: Self.tokenRevocations
        case .sessions: Self.sessions
        case .pendingRegistrations: Self.pendingRegistrations
        case .pendingProofs: Self.pendingProofs
        case .redirectFlows: Self.redirectFlows
        case .merges: Self.merges
        case .erasures: Self.erasures
        case .webhookDeliveries: Self.webhookDeliveries
        case .messages: SQLStore.personalMessages
        case .consents: Self.consents
        case .handoffs: Self.handoffs
        case .instances: Self.instances
        case .pins: Self.pins
        case .adminGrants: SQLStore.personalGrants
        case .adminNotes: SQLStore.personalNotes
        }
    }
}
