package import Accounts
internal import Foundation
internal import Postgres

extension SQLStore: TrialStore {
    package func keep(
        _ outcome: TrialOutcome, under code: OpaqueToken, state: [UInt8], lifetime: Duration,
        application: Application.ID
    ) async throws {
        // Without marks, because the evidence concerns no account.
        try await issueCode(
            code, for: outcome, marks: [], state: state, lifetime: lifetime, application: application)
    }

    private static let takeTrial = Statement(
        .write,
        """
        DELETE FROM redirect_flows
         WHERE application_id = $1 AND code_hash = $2 AND redirect_uri = $3 AND expires_at > now()
        RETURNING linking_session, provider, sealed_evidence, state_hash
        """)

    package func takeTrial(_ code: [UInt8], application: Application.ID) async throws -> StoredTrial? {
        let binds: [Bind] = [.application(application), .bytes(code), .text(FlowDestination.trialPath)]
        guard var row = try await run(Self.takeTrial, binds).first else { return nil }
        let (session, provider): (UUID?, String) = (try row.next(), try row.next())
        let (sealed, state): ([UInt8], [UInt8]) = (try row.next(), try row.next())
        return StoredTrial(
            session: session, provider: provider,
            outcome: try sealing.open(json: sealed, at: .evidence(application: application, state: state)))
    }
}
