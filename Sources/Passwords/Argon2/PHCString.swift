import Accounts
import Foundation

/// A stored Argon2id hash: `$argon2id$v=19$m=65536,t=2,p=4[,keyid=…]$salt$tag`, base64 without padding.
///
/// The format is the PHC string format (github.com/P-H-C/phc-string-format). `keyid` names the pepper of the password;
/// other software would interpret it as Argon2's own secret.
struct PHCString: Sendable, Hashable {
    /// Everything except the password that determines the tag; one run checks all hashes with the same setup.
    struct Setup: Sendable, Hashable {
        let parameters: Argon2Parameters
        let pepperID: PepperKeys.ID?
        let salt: [UInt8]
        var tagLength = Argon2Parameters.tagLength
    }

    let setup: Setup
    let tag: [UInt8]

    private static let prefix = ["", "argon2id", "v=19"]
    private static let saltLengths = 8...64
    private static let tagLengths = 16...64
    private static let maximumLength = 320

    init(setup: Setup, tag: [UInt8]) { (self.setup, self.tag) = (setup, tag) }

    /// Parses a hash in exactly the form that `encoded` returns, without zeros, padding or reordered parameters.
    /// - Throws: `PasswordsError.unreadableHash`, also for parameters beyond the limits of `Argon2Parameters`.
    init(_ hash: PasswordHash) throws {
        guard hash.phc.utf8.count <= Self.maximumLength, let parsed = Self(parsing: hash.phc),
            parsed.encoded.phc.utf8.elementsEqual(hash.phc.utf8)
        else { throw PasswordsError.unreadableHash }
        self = parsed
    }

    var encoded: PasswordHash {
        let parameters = setup.parameters
        var costs = "m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parameters.parallelism)"
        if let id = setup.pepperID { costs += ",keyid=" + Self.base64(Array(id.name.utf8)) }
        let fields = Self.prefix + [costs, Self.base64(setup.salt), Self.base64(tag)]
        return PasswordHash(phc: fields.joined(separator: "$"))
    }

    private init?(parsing phc: String) {
        let fields = phc.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 6, Array(fields.prefix(3)) == Self.prefix,
            let (parameters, pepperID) = Self.costs(fields[3]), let salt = Self.bytes(fields[4]),
            Self.saltLengths.contains(salt.count), let tag = Self.bytes(fields[5]), Self.tagLengths.contains(tag.count)
        else { return nil }
        setup = Setup(parameters: parameters, pepperID: pepperID, salt: salt, tagLength: tag.count)
        self.tag = tag
    }

    /// Parses the field `m=…,t=…,p=…`, with or without the pepper's id.
    static func parameters(_ costs: String) -> Argon2Parameters? { self.costs(costs)?.0 }

    private static func costs(_ field: String) -> (Argon2Parameters, PepperKeys.ID?)? {
        let pairs = field.split(separator: ",", omittingEmptySubsequences: false)
        guard (3...4).contains(pairs.count), let memory = value(of: "m", in: pairs[0]).flatMap({ UInt32($0) }),
            let iterations = value(of: "t", in: pairs[1]).flatMap({ UInt32($0) }),
            let parallelism = value(of: "p", in: pairs[2]).flatMap({ UInt32($0) }),
            let parameters = try? Argon2Parameters(memoryKiB: memory, iterations: iterations, parallelism: parallelism)
        else { return nil }
        guard pairs.count == 4 else { return (parameters, nil) }
        guard let encodedID = value(of: "keyid", in: pairs[3]), let bytes = bytes(String(encodedID)),
            let name = String(validating: bytes, as: UTF8.self), let id = try? PepperKeys.ID(name)
        else { return nil }
        return (parameters, id)
    }

    private static func value(of name: String, in pair: Substring) -> Substring? {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0] == name ? parts[1] : nil
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(Data(bytes).base64EncodedString().prefix { $0 != "=" })
    }

    private static func bytes(_ base64: String) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        return Data(base64Encoded: base64 + padding).map(Array.init)
    }
}
