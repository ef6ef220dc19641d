import Passwords

extension Expectation<Configuration.Passwords> {
    static var passwords: Self {
        .table { table in
            Configuration.Passwords(
                argon2: table.read("argon2", .argon2, default: .standard),
                minimumLength: table.read("minimumLength", .integer(8...128), default: 8),
                quarantine: table.read(
                    "quarantine", .duration(.zero ... .configuredMaximum), default: .seconds(7 * 86_400)),
                pepper: table.optional("pepper", .pepper))
        }
    }
}

extension Expectation<Argon2Parameters> {
    /// The bounds are those of the function itself.
    fileprivate static var argon2: Self {
        .table { table in
            let standard = Argon2Parameters.standard
            let any = Expectation<UInt32>.integer(1...UInt32.max)
            let memoryKiB = table.read("memoryKiB", any, default: standard.memoryKiB)
            let iterations = table.read("iterations", any, default: standard.iterations)
            let parallelism = table.read("parallelism", any, default: standard.parallelism)
            do {
                return try Argon2Parameters(memoryKiB: memoryKiB, iterations: iterations, parallelism: parallelism)
            } catch PasswordsError.invalidSetting(let field, let reason) {
                table.report(reason, at: String(field.trimmingPrefix("argon2.")))
            } catch {
                table.located.report("not usable")
            }
            return nil
        }
    }
}

extension Expectation<Configuration.Pepper> {
    /// A secret alone is the key `1`; keys that are to be changed some day have ids of their own.
    fileprivate static var pepper: Self {
        Self { located in
            guard case .table = located.node.content else {
                return Expectation<Secret>.pepperSecret.read(located)
                    .map { Configuration.Pepper(current: .init(id: "1", secret: $0)) }
            }
            return Self.table { table in
                let previous = table.read("previous", .list(of: .table(key)), default: [])
                guard let current = key(table) else { return nil }
                guard Set(previous.map(\.id) + [current.id]).count == previous.count + 1 else {
                    table.report("an id is used twice", at: "previous")
                    return nil
                }
                return Configuration.Pepper(current: current, previous: previous)
            }.read(located)
        }
    }

    private static func key(_ table: Table) -> Configuration.Pepper.Key? {
        let id = table.required("id", .keyID)
        let secret = table.required("secret", .pepperSecret)
        guard let id, let secret else { return nil }
        return Configuration.Pepper.Key(id: id, secret: secret)
    }
}

extension Expectation<String> {
    /// It becomes part of stored hashes, in a field of that size.
    fileprivate static var keyID: Self {
        .scalar("1 to 8 letters and digits") { text in
            let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            return isPlain && (1...8).contains(text.utf8.count) ? text : nil
        }
    }
}

extension Expectation<Secret> {
    fileprivate static var pepperSecret: Self {
        .secret("a secret of at least 32 bytes, or file:PATH", where: { $0.utf8.count >= 32 })
    }
}
