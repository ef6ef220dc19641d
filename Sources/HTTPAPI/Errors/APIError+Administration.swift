internal import Administration
internal import ProviderKit

extension APIError {
    /// Converts an error that only administrators get.
    init(_ error: AdministrationError) {
        var details: [String: JSONValue]?
        switch error {
        case .forbidden(let scope): details = ["scope": .string(scope.rawValue)]
        case .confirmationRequired(let phrase): details = ["confirm": .string(phrase)]
        case .invalidProviderSettings(let problems):
            let list = problems.map { JSONValue.object(["path": .string($0.path), "sentence": .string($0.sentence)]) }
            details = ["problems": .array(list)]
        default: details = nil
        }
        self.init(error.code, error.description, details: details)
    }
}

extension AdministrationError {
    fileprivate var code: ErrorCode {
        switch self {
        case .forbidden: .forbidden
        case .accountNotFound: .accountNotFound
        case .notFound: .notFound
        case .wrongState: .wrongState
        case .confirmationRequired: .confirmationRequired
        case .planStale: .planStale
        case .wouldLockOutAdmins: .wouldLockOutAdmins
        case .lastOwner: .lastOwner
        case .invalidProviderSettings: .invalidProviderSettings
        }
    }
}
