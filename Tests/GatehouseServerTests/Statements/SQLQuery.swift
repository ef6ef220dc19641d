/// A piece of an SQL statement; parentheses and brackets contain further ones.
indirect enum SQLToken: CustomStringConvertible {
    /// A keyword, a name with its qualifiers, a number, a parameter or a string.
    case word(String)
    case symbol(String)
    case group([SQLToken])
    case bracket([SQLToken])

    static func all(of sql: String) -> [SQLToken] {
        let pattern = /'(?:[^']|'')*'|\$\d+|[A-Za-z_]\w*(?:\.(?:\w+|\*))*|\d+|::|[<>=!|&@~^+\-*\/]+|[(),;\[\]]/
        var open: [[SQLToken]] = [[]]
        for match in sql.matches(of: pattern) {
            let text = String(match.output)
            switch text {
            case "(", "[": open.append([])
            case ")", "]":
                let inside = open.removeLast()
                open[open.count - 1].append(text == ")" ? .group(inside) : .bracket(inside))
            default:
                let isWord = text.first.map { $0.isLetter || $0.isNumber || "_'$".contains($0) } ?? false
                open[open.count - 1].append(isWord ? .word(text) : .symbol(text))
            }
        }
        return open[0]
    }

    var text: String? {
        switch self {
        case .word(let text), .symbol(let text): text
        case .group, .bracket: nil
        }
    }

    var inside: [SQLToken]? {
        switch self {
        case .word, .symbol: nil
        case .group(let tokens), .bracket(let tokens): tokens
        }
    }

    /// Keywords are in capitals.
    var keyword: String? {
        guard case .word(let text) = self, text.allSatisfy(\.isUppercase) else { return nil }
        return text
    }

    var name: String? {
        guard case .word(let text) = self, text.first.map({ $0.isLowercase || $0 == "_" }) ?? false else { return nil }
        return text
    }

    var description: String {
        switch self {
        case .word(let text), .symbol(let text): text
        case .group(let tokens): "(\(tokens.description))"
        case .bracket(let tokens): "[\(tokens.description)]"
        }
    }
}

extension [SQLToken] {
    var description: String { map(\.description).joined(separator: " ") }

    /// The tokens themselves and those in parentheses, except for subqueries.
    var withGroups: [SQLToken] {
        flatMap { token in [token] + (token.inside.map { SQLQuery.isQuery($0) ? [] : $0.withGroups } ?? []) }
    }
}

/// One level of a statement: a `SELECT`, `INSERT`, `UPDATE` or `DELETE` with its clauses, and the levels inside it.
struct SQLQuery {
    /// A level inside another, with the clause in which it stands.
    struct Inner {
        /// `WITH` for a common table expression, `UNION` for a further branch.
        let clause: String
        let query: SQLQuery
    }

    let kind: String
    /// The tokens of each clause by its keyword; `DO` has those after `ON CONFLICT`.
    private(set) var clauses: [String: [SQLToken]] = [:]
    /// Names of common table expressions of this level and of the levels around it.
    private(set) var commonTables: Set<String>
    private(set) var isRecursive = false
    private(set) var inner: [Inner] = []

    static func isQuery(_ tokens: [SQLToken]) -> Bool {
        ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains(tokens.first?.keyword)
    }

    init(sql: String) { self.init(SQLToken.all(of: sql)[...], commonTables: []) }

    private init(_ tokens: ArraySlice<SQLToken>, commonTables outer: Set<String>) {
        var rest = tokens
        var commonTables = outer
        var bodies: [[SQLToken]] = []
        if rest.first?.keyword == "WITH" {
            rest.removeFirst()
            isRecursive = rest.first?.keyword == "RECURSIVE"
            if isRecursive { rest.removeFirst() }
            repeat {
                if rest.first?.text == "," { rest.removeFirst() }
                if let name = rest.first?.name { commonTables.insert(name) }
                while let token = rest.popFirst() {
                    guard case .group(let body) = token, Self.isQuery(body) else { continue }
                    bodies.append(body)
                    break
                }
            } while rest.first?.text == ","
        }
        self.commonTables = commonTables
        if case .group(let body)? = rest.first, Self.isQuery(body) { rest = body + rest.dropFirst() }
        kind = rest.first?.keyword ?? ""
        inner = bodies.map { Inner(clause: "WITH", query: SQLQuery($0[...], commonTables: commonTables)) }
        split(rest)
        for (clause, tokens) in clauses { addQueries(in: tokens, of: clause) }
    }

    private static let keywords: [String: Set<String>] = [
        "SELECT": ["SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "FOR", "UNION"],
        "INSERT": ["INSERT", "VALUES", "SELECT", "DO", "RETURNING"],
        "UPDATE": ["UPDATE", "SET", "FROM", "WHERE", "RETURNING"],
        "DELETE": ["DELETE", "FROM", "USING", "WHERE", "RETURNING"],
    ]

    private mutating func split(_ tokens: ArraySlice<SQLToken>) {
        var clause = ""
        var before: String?
        for (index, token) in zip(tokens.indices, tokens) {
            let keyword = token.keyword
            let isConflict = keyword == "ON" && tokens[(index + 1)...].first?.keyword == "CONFLICT"
            // A branch of a union, the source of an INSERT and what is done at a conflict last to their ends.
            let isInside =
                clause == "UNION" || clause == "SELECT" && kind == "INSERT" && keyword != "RETURNING"
                || clause == "DO" && keyword != "RETURNING" || keyword == "FROM" && before == "DISTINCT"
            if kind == "INSERT", isConflict {
                clause = "DO"
            } else if let keyword, !isInside, Self.keywords[kind]?.contains(keyword) ?? false {
                clause = keyword
                clauses[clause] = clauses[clause] ?? []
                if kind == "INSERT", keyword == "SELECT" { clauses[clause]?.append(token) }
            } else {
                clauses[clause, default: []].append(token)
            }
            before = keyword
        }
        for clause in ["UNION", kind == "INSERT" ? "SELECT" : ""] {
            guard var branch = clauses.removeValue(forKey: clause) else { continue }
            if branch.first?.keyword == "ALL" { branch.removeFirst() }
            inner.append(Inner(clause: clause, query: SQLQuery(branch[...], commonTables: commonTables)))
        }
    }

    private mutating func addQueries(in tokens: [SQLToken], of clause: String) {
        for token in tokens {
            guard let inside = token.inside else { continue }
            if Self.isQuery(inside) {
                inner.append(Inner(clause: clause, query: SQLQuery(inside[...], commonTables: commonTables)))
            } else {
                addQueries(in: inside, of: clause)
            }
        }
    }

    /// This level and all levels inside it.
    var levels: [SQLQuery] { [self] + inner.flatMap(\.query.levels) }

    /// The tables, common table expressions and functions that this level reads or writes, with their aliases.
    ///
    /// Does not include subqueries and the table of an `INSERT`.
    var relations: [(name: String, alias: String)] {
        ["UPDATE", "FROM", "USING"].flatMap { clause in
            var found: [(String, String)] = []
            var isExpected = true
            let tokens = clauses[clause] ?? []
            for (index, token) in tokens.enumerated() {
                if token.text == "," || token.keyword == "JOIN" {
                    isExpected = true
                } else if isExpected, token.keyword != "LATERAL" {
                    isExpected = false
                    guard let name = token.name else { continue }
                    let following = tokens[(index + 1)...].first { $0.keyword != "AS" }
                    found.append((name, following?.name ?? name))
                }
            }
            return found
        }
    }

    /// The conditions that hold for every row of this level, without those in parentheses.
    var conditions: String {
        ["FROM", "USING", "WHERE"].compactMap { clauses[$0] }.joined().map { $0.inside == nil ? $0.description : "()" }
            .joined(separator: " ") + " "
    }
}
