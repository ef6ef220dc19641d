import GatehouseTesting
import Testing

@testable import Postgres

@Suite struct DistributionTests {
    private static let accounts = table("accounts")
    private static let sessions = table("sessions", references: ["accounts"])
    private static let tokens = table("refresh_tokens", references: ["sessions"])
    private static let keys = table("keys", references: ["applications"])
    private static let applications = table("applications", hasApplication: false)
    private static let rootKey = table("root_key", hasApplication: false)
    private static let tables = [accounts, applications, keys, tokens, rootKey, sessions]

    private static let distributeAll = [
        "SELECT create_reference_table('applications')",
        "SELECT create_distributed_table('accounts', 'application_id')",
        "SELECT create_distributed_table('keys', 'application_id', colocate_with => 'accounts')",
        "SELECT create_distributed_table('sessions', 'application_id', colocate_with => 'accounts')",
        "SELECT create_distributed_table('refresh_tokens', 'application_id', colocate_with => 'accounts')",
    ]

    private static func table(
        _ name: String, hasApplication: Bool = true, references: [String] = [],
        _ placement: DistributedTable.Placement = .local, hasLocalRows: Bool = false
    ) -> DistributedTable {
        DistributedTable(
            name: name, hasApplication: hasApplication, references: references, placement: placement,
            hasLocalRows: hasLocalRows)
    }

    private static func distributed(_ table: DistributedTable, hasLocalRows: Bool = false) -> DistributedTable {
        Self.table(
            table.name, references: table.references, .distributed(by: "application_id", group: 2),
            hasLocalRows: hasLocalRows)
    }

    @Test func `tables follow those that they reference`() throws {
        #expect(try Distribution.missingSteps(for: Self.tables, localFunctions: []) == Self.distributeAll)
    }

    @Test func `functions that use the tables come last`() throws {
        let steps = try Distribution.missingSteps(for: Self.tables, localFunctions: ["f(integer)"])
        #expect(steps == Self.distributeAll + ["SELECT create_distributed_function('f(integer)')"])
    }

    @Test func `an interrupted run is continued`() throws {
        let applications = Self.table("applications", hasApplication: false, .onEveryNode)
        let tables = [
            Self.distributed(Self.accounts), applications, Self.keys, Self.tokens, Self.rootKey, Self.sessions,
        ]
        let steps = try Distribution.missingSteps(for: tables, localFunctions: [])
        #expect(steps == Array(Self.distributeAll.dropFirst(2)))
    }

    @Test func `a later table is colocated with the others`() throws {
        let tables = [Self.table("a", references: ["accounts"]), Self.distributed(Self.accounts)]
        let steps = try Distribution.missingSteps(for: tables, localFunctions: [])
        #expect(steps == ["SELECT create_distributed_table('a', 'application_id', colocate_with => 'accounts')"])
    }

    @Test func `rows that remain on the coordinator are removed after everything is distributed`() throws {
        let tables = [Self.distributed(Self.accounts, hasLocalRows: true), Self.sessions]
        let steps = try Distribution.missingSteps(for: tables, localFunctions: [])
        #expect(
            steps == [
                "SELECT create_distributed_table('sessions', 'application_id', colocate_with => 'accounts')",
                "SELECT truncate_local_data_after_distributing_table('accounts')",
            ])
    }

    @Test func `nothing is missing on a distributed database`() throws {
        let tables = [Self.accounts, Self.sessions, Self.tokens].map { Self.distributed($0) }
        #expect(try Distribution.missingSteps(for: tables, localFunctions: []).isEmpty)
    }

    @Test(arguments: [
        (table("accounts", .distributed(by: "uid", group: 1)), "accounts is distributed in another way"),
        (table("accounts", .onEveryNode), "accounts is distributed in another way"),
        (table("accounts", references: ["sessions"]), "accounts, sessions"),
    ])
    func `tables that can't be distributed are refused`(accounts: DistributedTable, reason: String) {
        let error = #expect(throws: PostgresError.self) {
            try Distribution.missingSteps(for: [accounts, Self.sessions], localFunctions: [])
        }
        #expect(error?.description.contains(reason) == true)
    }

    @Test(arguments: [
        ("08006", "ReportConnectionError", true), ("57P01", "ProcessInterrupts", true),
        ("57P03", "ProcessStartupPacket", true), ("XX000", "ReportResultError", true),
        ("XX000", "ReportCopyError", true), ("XX000", "MarkRemoteTransactionFailed", true),
        ("XX000", "elog_finish", false),
        ("40001", "ReportResultError", false), ("23505", "_bt_check_unique", false),
    ])
    func `errors of a node that is lost are told from others`(sqlState: String, routine: String, isLoss: Bool) {
        let error = PostgresError.server(ServerError(sqlState: sqlState, message: "", routine: routine))
        #expect(error.isLossOfNode == isLoss)
    }

    @Test(arguments: [
        ("duplicate key value violates unique constraint \"addresses_pkey_102034\"", true, false),
        ("insert or update on table \"sessions_102040\" violates foreign key constraint \"of_account\"", false, true),
    ])
    func `a constraint that a copied row violates is told from a lost node`(
        message: String, isUnique: Bool, isForeignKey: Bool
    ) {
        let error = PostgresError.server(ServerError(sqlState: "XX000", message: message, routine: "ReportCopyError"))
        #expect(error.isUniqueViolation == isUnique)
        #expect(error.isForeignKeyViolation == isForeignKey)
        #expect(!error.isLossOfNode)
    }
}
