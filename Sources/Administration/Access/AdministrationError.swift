/// The errors that only administrators get; `HTTPAPI` maps each case to a code and a status.
package enum AdministrationError: Error, Sendable, Equatable {
    /// The administrator lacks the scope, in this application or in another one that the act concerns.
    case forbidden(AdminScope)
    case accountNotFound
    /// There is no such object of the application, such as a key, a delivery or an erasure.
    case notFound(String)
    /// The object's state does not permit the act; the reason is for people.
    case wrongState(reason: String)
    /// The act needs the exact phrase.
    case confirmationRequired(phrase: String)
    /// The plan is unknown, too old, or no longer what would happen.
    case planStale
    case wouldLockOutAdmins
    /// After the act, no account could grant rights for all applications.
    case lastOwner
    /// The schema or the provider refuses settings that were sent.
    case invalidProviderSettings([SettingProblem])
}

extension AdministrationError: CustomStringConvertible {
    /// The reason, for people.
    package var description: String {
        switch self {
        case .forbidden(let scope): "This needs the scope \(scope.rawValue)"
        case .accountNotFound: "There is no such account"
        case .notFound(let kind): "There is no such \(kind)"
        case .wrongState(let reason): reason
        case .confirmationRequired(let phrase): "confirm must be: \(phrase)"
        case .planStale: "The plan is no longer what would happen; make a new one"
        case .wouldLockOutAdmins: "The last owner, or you, could not sign in any more"
        case .lastOwner: "The last owner of all applications can't be taken away"
        case .invalidProviderSettings: "The settings are not those of a provider that works"
        }
    }
}

extension AdministrationError {
    /// - Throws: `confirmationRequired` unless `confirm` is the phrase.
    package static func require(_ confirm: String?, toBe phrase: String) throws {
        guard let confirm, confirm.utf8.elementsEqual(phrase.utf8) else {
            throw confirmationRequired(phrase: phrase)
        }
    }
}
