internal import Accounts
internal import Logging
internal import OpenID
internal import Synchronization

/// Logs why OpenID clients are refused, so that an operator sees a wrong secret or redirect URI.
///
/// A reason is logged at most once a minute for a client and network, and at most 100 lines are written in a minute,
/// because anybody can cause refusals. The audit counts them (`client.refused`).
final class ClientRefusalLog: Sendable {
    enum Reason: String {
        case unknownClient = "no client of that name is configured"
        case authentication = "the secret or assertion is wrong or missing"
        case redirectURI = "redirect_uri is none of the client's"
    }

    struct Subject: Hashable {
        let application: String
        /// The name of a configured client, because anybody can send others.
        let client: String?
        let network: String
        let reason: Reason
    }

    private static let (interval, mostSubjects) = (Duration.seconds(60), 100)

    /// When each subject was logged last, in the last minute.
    private let logged = Mutex<[Subject: ContinuousClock.Instant]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    func note(_ reason: Reason, client: String?, redirectURI: String? = nil, _ context: OperationContext) {
        let application = context.application.name
        let subject = Subject(
            application: application, client: client, network: context.client.network, reason: reason)
        guard isDue(subject) else { return }
        var metadata: Logger.Metadata = ["application": "\(application)", "reason": "\(reason.rawValue)"]
        metadata["client"] = client.map { "\($0)" }
        metadata["redirectURI"] = redirectURI.flatMap(Self.shown).map { "\($0)" }
        context.log.notice("OpenID client refused", metadata: metadata)
    }

    func isDue(_ subject: Subject) -> Bool {
        let now = now()
        return logged.withLock { logged in
            if let last = logged[subject], now < last + Self.interval { return false }
            if logged.count >= Self.mostSubjects { logged = logged.filter { now < $1 + Self.interval } }
            guard logged.count < Self.mostSubjects else { return false }
            logged[subject] = now
            return true
        }
    }

    /// A redirect URI up to its query; `nil` if it may contain a password.
    static func shown(_ uri: String) -> String? {
        let start = uri.unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        guard !uri.unicodeScalars.contains("@"), !start.contains("%") else { return nil }
        return String(start.prefix(200))
    }
}
