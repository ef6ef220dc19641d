import Postgres

@testable import GatehouseServer

/// What PostgreSQL accepts and Citus 13, with tables distributed by `application_id`, refuses, answers differently or
/// sends to all nodes.
enum PortabilityFault: String, CaseIterable {
    case unscopedTable = "a table is not compared with the application's parameter itself, which is $1"
    case unscopedLock = "rows are locked or limited in a subquery that is not restricted to one application"
    case lockJoinsPart = "a level that locks rows joins a common table expression; use EXISTS or IN"
    case mutableFunction =
        "a function that is not immutable stands beside columns or in CASE or COALESCE; join (SELECT now() AS now) AS clock, or compute the value in a SELECT part"
    case mutableConflict = "DO UPDATE calls a function or adds an interval to a time that is not AT TIME ZONE 'UTC'"
    case returnedFunction = "RETURNING calls a function that is not immutable"
    case insertedSubquery = "VALUES or DO UPDATE contains a subquery"
    case emptyList = "a select list is empty"
    case assignedElement = "an element of an array is assigned"
    case readingFunction = "a view or a function that reads tables is used"
    case remoteNotification = "a notification would be sent by the node that stores the rows"
    case nullComparison = "UPDATE or DELETE compares a column with a parameter that the statement also tests for null"
    case insertingRecursion = "WITH RECURSIVE stands at the top of a statement that inserts rows"
}

/// Finds the faults of statements.
struct Portability {
    /// Tables with `application_id`.
    let tables: Set<String>
    /// Functions of which some form is not immutable.
    let mutableFunctions: Set<String>
    /// Columns that are intervals.
    let intervals: Set<String>
    /// Views, and functions in SQL that read tables.
    let readers: Set<String>

    func faults(of sql: String) -> Set<PortabilityFault> {
        let statement = SQLQuery(sql: sql)
        var faults = statement.levels.reduce(into: Set<PortabilityFault>()) { $0.formUnion(self.faults(of: $1)) }
        let inserts = statement.levels.contains { $0.kind == "INSERT" }
        if statement.isRecursive, inserts { faults.insert(.insertingRecursion) }
        let isDistributed = statement.levels.contains { !scoped($0).isEmpty }
        let nullable = sql.matches(of: /(\$\d+)(?:::\w+(?:\[\])?)? IS (?:NOT )?NULL/).map { "= \($0.1) " }
        for level in statement.levels where ["UPDATE", "DELETE"].contains(level.kind) {
            if nullable.contains(where: level.conditions.contains) { faults.insert(.nullComparison) }
        }
        for level in statement.levels where calls(["pg_notify"], in: level.clauses["SELECT"] ?? []) {
            if !scoped(level).isEmpty || isDistributed && !inserts { faults.insert(.remoteNotification) }
        }
        for query in statement.levels.flatMap(\.inner) {
            let isLimited = query.query.clauses["LIMIT"] != nil && query.clause != "UNION"
            if isLimited, !isTied(query.query) { faults.insert(.unscopedLock) }
        }
        return faults
    }

    private func faults(of level: SQLQuery) -> Set<PortabilityFault> {
        var faults: Set<PortabilityFault> = []
        let returned = level.clauses["RETURNING"] ?? []
        let conflict = level.clauses["DO"] ?? []
        if !isTied(level) { faults.insert(.unscopedTable) }
        if level.clauses["FOR"] != nil {
            if !isTied(level) { faults.insert(.unscopedLock) }
            let joinsPart = level.relations.contains { level.commonTables.contains($0.name) }
            if joinsPart { faults.insert(.lockJoinsPart) }
        }
        if level.kind == "SELECT", level.clauses["SELECT"]?.isEmpty ?? true { faults.insert(.emptyList) }
        if calls(mutableFunctions, in: returned) { faults.insert(.returnedFunction) }
        if calls(mutableFunctions, in: conflict) || addsInterval(conflict) { faults.insert(.mutableConflict) }
        if ["VALUES", "DO"].contains(where: { clause in level.inner.contains { $0.clause == clause } }) {
            faults.insert(.insertedSubquery)
        }
        if level.kind == "UPDATE" || level.kind == "DELETE" {
            for clause in [level.clauses["SET"] ?? [], level.clauses["WHERE"] ?? []]
            where mixesFunctions(clause) || addsInterval(clause, toColumn: true) {
                faults.insert(.mutableFunction)
            }
            if takesElement(level.clauses["SET"] ?? []) { faults.insert(.assignedElement) }
        }
        let readsView = level.relations.contains { readers.contains($0.name) }
        if readsView || level.clauses.values.contains(where: { calls(readers, in: $0) }) {
            faults.insert(.readingFunction)
        }
        return faults
    }

    // MARK: - Tables

    private func scoped(_ level: SQLQuery) -> [(name: String, alias: String)] {
        level.relations.filter { tables.contains($0.name) && !level.commonTables.contains($0.name) }
    }

    /// Whether each table of the level is compared with the application's parameter, and an inserted row has it.
    private func isTied(_ level: SQLQuery) -> Bool {
        let relations = scoped(level)
        let conditions = level.conditions
        let areTied = relations.allSatisfy { relation in
            let own = conditions.contains("\(relation.alias).application_id = $1 ")
            return own || relations.count == 1 && " \(conditions)".contains(" application_id = $1 ")
        }
        guard level.kind == "INSERT", let target = level.clauses["INSERT"]?.dropFirst().first?.name,
            tables.contains(target)
        else { return areTied }
        let values =
            level.clauses["VALUES"]?.first?.inside
            ?? level.inner.first { $0.clause == "SELECT" }?.query.clauses["SELECT"]
        return values?.first?.text == "$1"
    }

    // MARK: - Expressions

    private func calls(_ names: Set<String>, in tokens: [SQLToken]) -> Bool {
        let tokens = tokens.withGroups
        return zip(tokens, tokens.dropFirst()).contains { token, next in
            guard case .group = next, let name = token.name else { return false }
            return names.contains(name)
        }
    }

    private func namesColumn(_ tokens: [SQLToken]) -> Bool {
        let tokens = tokens.withGroups
        return tokens.indices.contains { index in
            guard let name = tokens[index].name, name != "interval" else { return false }
            let isType = index > 0 && tokens[index - 1].text == "::"
            if index + 1 < tokens.count, case .group = tokens[index + 1] { return false }
            return !isType
        }
    }

    /// Whether a function that is not immutable is called with a column, or stands in a CASE or COALESCE.
    private func mixesFunctions(_ tokens: [SQLToken]) -> Bool {
        for (index, token) in tokens.enumerated() {
            if token.keyword == "CASE" {
                let end = tokens[index...].firstIndex { $0.keyword == "END" } ?? tokens.endIndex
                let body = Array(tokens[index..<end])
                if calls(mutableFunctions, in: body) { return true }
            }
            guard let inside = token.inside, !SQLQuery.isQuery(inside) else { continue }
            let function = index > 0 ? tokens[index - 1].name : nil
            if let function, mutableFunctions.contains(function) {
                let rest = tokens[(index + 1)...]
                let isAdded = ["+", "-"].contains(rest.first?.text) && namesColumn(Array(rest.dropFirst().prefix(1)))
                if isAdded || namesColumn(inside) { return true }
            }
            if function == "coalesce", calls(mutableFunctions, in: inside) { return true }
            if mixesFunctions(inside) { return true }
        }
        return false
    }

    /// Whether an interval is added to a time with a time zone, which depends on the session's time zone.
    private func addsInterval(_ tokens: [SQLToken], toColumn: Bool = false) -> Bool {
        for (index, token) in tokens.enumerated() {
            if let inside = token.inside, !SQLQuery.isQuery(inside), addsInterval(inside, toColumn: toColumn) {
                return true
            }
            guard token.text == "+" || token.text == "-", index > 0 else { continue }
            let operand = Array(
                tokens[(index + 1)...].prefix { token in
                    token.keyword == nil && !["+", "-", "<", ">", "<=", ">=", "=", ","].contains(token.text)
                })
            let names = operand.withGroups.compactMap(\.name)
            let addsColumn = names.contains { intervals.contains($0.split(separator: ".").last.map(String.init) ?? "") }
            if toColumn, addsColumn { return true }
            // The clock of `(SELECT now() AS now) AS clock` is a value, not a column.
            guard !toColumn || tokens[index - 1].name.map({ $0 != "clock.now" }) == true else { continue }
            let isInterval = names.contains("interval")
            if isInterval, !["'UTC'", "interval"].contains(tokens[index - 1].text) { return true }
        }
        return false
    }

    private func takesElement(_ tokens: [SQLToken]) -> Bool {
        for (index, token) in tokens.enumerated() {
            if case .bracket(let inside) = token, !inside.isEmpty, index > 0, tokens[index - 1].keyword != "ARRAY" {
                return true
            }
            if let inside = token.inside, takesElement(inside) { return true }
        }
        return false
    }
}

extension TestServer {
    /// The rules, with the names of this schema.
    func portability() async throws -> Portability {
        Portability(
            tables: try await tablesOfApplications(),
            mutableFunctions: try await names("SELECT DISTINCT proname::text FROM pg_proc WHERE provolatile <> 'i'"),
            intervals: try await names(
                """
                SELECT DISTINCT column_name::text FROM information_schema.columns
                 WHERE table_schema = 'public' AND data_type = 'interval'
                """),
            readers: try await names(
                """
                SELECT p.proname::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
                 WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = 'sql'
                   AND pg_get_functiondef(p.oid) ~ '(FROM|JOIN) [a-z]'
                UNION ALL
                SELECT viewname::text FROM pg_views WHERE schemaname = 'public'
                """))
    }

    private func names(_ sql: StaticString) async throws -> Set<String> {
        Set(
            try await backend.database.execute(Statement(.read, sql), []).map { row in
                var row = row
                return try row.next(String.self)
            })
    }
}
