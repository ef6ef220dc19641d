import Foundation
import Postgres
import Testing

@testable import GatehouseServer

/// PostgreSQL's plan for a statement, independent of the values of its parameters.
struct QueryPlan {
    /// A node that reads a table.
    struct Scan: CustomStringConvertible {
        let type: String
        let table: String
        let alias: String
        let rows: Double
        let cost: Double
        let index: String?
        /// The node's own conditions and those of the joins above it.
        let conditions: [String]

        /// Whether the plan reads rows of one application only, which a parameter names.
        var isScoped: Bool { conditions.contains { $0.contains("application_id = $") } }

        var description: String { "\(type) on \(table) \(alias) of \(Int(rows)) rows for \(Int(cost)), \(conditions)" }
    }

    let scans: [Scan]

    init(json: String) throws {
        let plans = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
        let root = try #require(plans?.first?["Plan"] as? [String: Any], "\(json)")
        scans = Self.scans(of: root, under: [])
    }

    private static let own = ["Index Cond", "Recheck Cond", "Filter"]
    private static let joining = ["Hash Cond", "Merge Cond", "Join Filter"]

    private static func scans(of node: [String: Any], under conditions: [String]) -> [Scan] {
        let type = node["Node Type"] as? String ?? ""
        var found: [Scan] = []
        if type.hasSuffix("Scan"), let table = node["Relation Name"] as? String {
            let alias = node["Alias"] as? String ?? table
            let joins = conditions.filter { $0.contains("\(alias).application_id") }
            found.append(
                Scan(
                    type: type, table: table, alias: alias, rows: node["Plan Rows"] as? Double ?? 0,
                    cost: node["Total Cost"] as? Double ?? 0,
                    index: node["Index Name"] as? String, conditions: own.compactMap { node[$0] as? String } + joins))
        }
        let below = conditions + joining.compactMap { node[$0] as? String }
        return found + (node["Plans"] as? [[String: Any]] ?? []).flatMap { scans(of: $0, under: below) }
    }
}

extension TestServer {
    /// Installs a function that returns the generic plan of a statement's text, as PostgreSQL uses it for a prepared
    /// statement after several runs.
    ///
    /// A parameter without a known type is bound as text, as in the server.
    func installPlanner() async throws {
        try await execute(
            """
            CREATE OR REPLACE FUNCTION plan_of(statement text, sequentially boolean) RETURNS text
                LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
            DECLARE
                count  int := (SELECT coalesce(max(m[1]::int), 0) FROM regexp_matches(statement, '[$](\\d+)', 'g') m);
                types  text[] := array_fill('unknown'::text, ARRAY[greatest(count, 1)]);
                reason text;
                plan   json;
            BEGIN
                PERFORM set_config('enable_seqscan', sequentially::text, true);
                FOR attempt IN 0..count LOOP
                    BEGIN
                        EXECUTE 'PREPARE examined' || CASE WHEN count = 0 THEN '' ELSE
                            '(' || array_to_string(types[1:count], ', ') || ')' END || ' AS ' || statement;
                        EXIT;
                    EXCEPTION WHEN indeterminate_datatype OR ambiguous_function THEN
                        GET STACKED DIAGNOSTICS reason = MESSAGE_TEXT;
                        IF substring(reason FROM '[$](\\d+)') IS NULL THEN RAISE; END IF;
                        types[substring(reason FROM '[$](\\d+)')::int] := 'text';
                    END;
                END LOOP;
                EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE examined' || CASE WHEN count = 0 THEN '' ELSE
                    '(' || array_to_string(array_fill('NULL'::text, ARRAY[count]), ', ') || ')' END INTO plan;
                DEALLOCATE examined;
                RETURN plan;
            END $$
            """)
    }

    func plan(of sql: String, sequentially: Bool = true) async throws -> QueryPlan {
        let json = try await text("SELECT plan_of($1, $2)", [.text(sql), .bool(sequentially)])
        return try QueryPlan(json: try #require(json))
    }

    /// Tables whose rows belong to an application, including partitions.
    func tablesOfApplications() async throws -> Set<String> {
        let rows = try await backend.database.execute(
            Statement(
                .read,
                """
                SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
                   AND a.attname = 'application_id' AND NOT a.attisdropped
                """), [])
        return Set(
            try rows.map { row in
                var row = row
                return try row.next(String.self)
            })
    }
}
