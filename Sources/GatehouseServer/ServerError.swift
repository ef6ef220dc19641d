internal import Accounts
internal import Foundation

/// The reason why a command failed, described in one line.
enum ServerError: Error, CustomStringConvertible {
    case noConfiguration
    case migrationsMissing
    case addressTaken(host: String, port: Int)
    case cannotListen(host: String, port: Int, reason: String)
    case unknownAccount(UUID)
    case unknownApplication(String)
    case strands(Int, allowed: Int)
    case unknownProvider(String)
    case noDefaultApplication
    case unknownClient(String)
    case unknownSoftware(String)
    case noPassword(UUID)
    case refusedOption(String, reason: String)
    case noAdministration
    case noConsole
    case unusableEvidence(String)
    case unusableLedger(path: String, reason: String)
    case liveAccount(UUID)
    /// `by` has the names of the services that have not acknowledged.
    case unacknowledged(UUID, by: [String], isErased: Bool)
    case failedErasures(Int)
    case auditBroken(AuditFault)
    case differentDialect(String, differing: Int, of: Int)
    case development(String)
    case interrupted

    var description: String {
        switch self {
        case .noConfiguration:
            "no configuration: pass --config FILE or set GATEHOUSE_CONFIG (`gatehouse dev` needs none)"
        case .migrationsMissing: "the database's schema is not this version's: run `gatehouse migrate` first"
        case .addressTaken(let host, let port): "\(host):\(port) is taken by another program; choose another port"
        case .cannotListen(let host, let port, let reason): "can't listen on \(host):\(port): \(reason)"
        case .unknownAccount(let uid): "there is no account \(uid.uuidString.lowercased())"
        case .unknownApplication(let name): "there is no application \(name) in the configuration"
        case .strands(let count, let allowed):
            "\(count) account(s) could not sign in any more, and --allow-stranded is \(allowed)"
        case .unknownProvider(let name): "the application has no provider \(name) in the configuration"
        case .noDefaultApplication: "there are several applications and no default one; pass --application NAME"
        case .unknownClient(let id): "there is no registered client \(id)"
        case .unknownSoftware(let id): "the application has no software \(id) in the configuration"
        case .unusableEvidence(let reason): "the evidence can't be used: \(reason)"
        case .noPassword(let uid): "account \(uid.uuidString.lowercased()) has no password"
        case .refusedOption(let name, let reason): "--\(name) \(reason)"
        case .noAdministration: "the configuration has no section `admin`, so there are no administrators"
        case .noConsole: "`admin.console` is off, and the link would lead there"
        case .unusableLedger(let path, let reason): "the ledger of erasures \(path) can't be used: \(reason)"
        case .liveAccount(let uid):
            "account \(uid.uuidString.lowercased()) is live: only one that is being deleted can be erased"
        case .unacknowledged(let uid, let names, let isErased):
            "account \(uid.uuidString.lowercased()) \(isErased ? "is erased" : "is not erased yet"), not acknowledged by: "
                + names.joined(separator: ", ")
        case .failedErasures(let count): "\(count) step(s) failed; the lines before this name them"
        case .auditBroken(let fault): "the audit is not what was sealed: \(fault)"
        case .differentDialect(let name, let differing, let count):
            "the apps of \(name) would not understand \(differing) of \(count) answers"
        case .development(let reason): reason
        case .interrupted: "stopped by a signal; run the command again to go on"
        }
    }
}
