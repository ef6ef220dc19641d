/// A table of the schema, and where its rows are.
struct DistributedTable: Equatable {
    enum Placement: Equatable {
        case local
        case onEveryNode
        case distributed(by: String, group: Int)
    }

    static let column = "application_id"

    let name: String
    let hasApplication: Bool
    /// The other tables that it references.
    let references: [String]
    let placement: Placement
    /// Whether the table on the coordinator itself has rows.
    let hasLocalRows: Bool

    var group: Int? {
        if case .distributed(_, let group) = placement { group } else { nil }
    }

    static func all(on executor: some Executor) async throws -> [Self] {
        try await executor.execute(.tables).decoded { row in
            let (name, hasApplication, references) = try (
                row.next(String.self), row.next(Bool.self), row.next([String].self)
            )
            let (method, column, group) = try (row.next(String?.self), row.next(String?.self), row.next(Int?.self))
            let placement: Placement =
                switch method {
                case "reference": .onEveryNode
                case "distributed": .distributed(by: column ?? "", group: group ?? 0)
                default: .local
                }
            return Self(
                name: name, hasApplication: hasApplication, references: references, placement: placement,
                hasLocalRows: try row.next())
        }
    }
}

extension Statement {
    /// A table that Citus only knows because it references one on every node counts as local.
    fileprivate static let tables = Self(
        .read,
        """
        SELECT c.oid::regclass::text,
               EXISTS (SELECT FROM pg_attribute a
                        WHERE a.attrelid = c.oid AND a.attname = 'application_id' AND NOT a.attisdropped),
               ARRAY(SELECT DISTINCT f.confrelid::regclass::text FROM pg_constraint f
                      WHERE f.contype = 'f' AND f.conrelid = c.oid AND f.confrelid <> c.oid),
               CASE WHEN d.partmethod = 'n' AND d.repmodel = 't' THEN 'reference'
                    WHEN d.partmethod <> 'n' THEN 'distributed' END,
               CASE WHEN d.partmethod <> 'n' THEN column_to_column_name(d.logicalrelid, d.partkey) END,
               d.colocationid::bigint,
               pg_relation_size(c.oid)
                   + coalesce((SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree(c.oid)), 0) > 0
          FROM pg_class c LEFT JOIN pg_dist_partition d ON d.logicalrelid = c.oid
         WHERE c.relnamespace = current_schema::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         ORDER BY c.relname
        """)
}
