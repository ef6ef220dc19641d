import GatehouseTesting
import Testing

extension Trait where Self == ConditionTrait {
    /// The test reads plans, statistics or locks, which on a Citus cluster are on the node that has the rows, or changes
    /// tables in a way that Citus refuses.
    static var needsOneNode: Self {
        .disabled("needs a server that is not distributed") { try await TemporaryPostgres.isDistributed }
    }

    static var needsCitus: Self {
        .enabled("needs a Citus cluster") { try await TemporaryPostgres.isDistributed }
    }
}
