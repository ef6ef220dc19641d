internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

extension APIError {
    /// Converts an error that was thrown while serving a request; `nil` for an unexpected error.
    init?(any error: any Error) {
        switch error {
        case let error as APIError: self = error
        case let error as AccountsError: self.init(error)
        case let error as AdministrationError: self.init(error)
        case let error as ProviderError: self.init(error)
        case is CancellationError: self.init(.overloaded, "The request was abandoned", retryAfter: .seconds(1))
        default: return nil
        }
    }

    private init(_ error: ProviderError) {
        switch error {
        case .missing(let field): self.init(.missingParameter, "\(field) is missing")
        case .malformed(let field, let reason): self.init(.invalidParameter, "\(field) \(reason)")
        case .refused: self.init(.invalidToken, "The proof is not valid")
        case .unavailable:
            self.init(.providerUnavailable, "The provider does not answer; try again", retryAfter: .seconds(5))
        }
    }

    private init(_ error: AccountsError) {
        switch error {
        case .missingParameter(let name): self.init(.missingParameter, "\(name) is missing")
        case .invalidParameter(let name, let reason): self.init(.invalidParameter, "\(name) \(reason)")
        case .missingEmailOrPassword: self.init(.missingEmailOrPassword, "email and password are both needed")
        case .tooWeakPassword(let weaknesses):
            self.init(
                .tooWeakPassword, "The password is too weak",
                details: ["reasons": .array(weaknesses.map { .string($0.rawValue) })])
        case .unsupportedProvider(let name):
            self.init(.unsupportedProvider, "There is no provider \(String(name.unicodeScalars.prefix(64)))")
        case .providerDisabled(let refusal): self.init(.providerDisabled, refusal)
        case .invalidCredentials: self.init(.invalidCredentials, "The e-mail address or the password is wrong")
        case .identityTemporarilyLocked(let delay):
            self.init(.identityTemporarilyLocked, "Too many failures; wait before trying again", retryAfter: delay)
        case .unverifiedIdentity:
            self.init(.unverifiedIdentity, "The address has not been verified yet; see the mail that was sent to it")
        case .existingIdentity: self.init(.existingIdentity, "This address has an account")
        case .invalidToken, .expiredToken, .accountNotFound, .accountIsLive:
            self.init(.invalidToken, "The token is not valid")
        case .insufficientScope: self.init(.insufficientScope, "The token lacks the scope that this call needs")
        case .invalidRefreshToken: self.init(.invalidRefreshToken, "The refresh token is not valid")
        case .invalidState: self.init(.invalidState, "The state is unknown, expired, used, or of another flow")
        case .redirectNotAllowed: self.init(.unauthorizedRequestOrigin, "redirect_uri is not on the application's list")
        case .tokenTooOld: self.init(.tokenTooOld, "Sign in again: this needs a recent authentication")
        case .identityNotFound: self.init(.identityNotFound, "The account has no such identity")
        case .wrongPIN: self.init(.wrongPIN, "The PIN is wrong")
        case .existingPIN: self.init(.existingPIN, "The account has a PIN already")
        case .pinNotSet: self.init(.pinNotSet, "The account has no PIN that is valid")
        case .identityInUse(let ticket, let refusal): self.init(.identityInUse, refusal, ["mergeToken": ticket])
        case .lastUsableIdentity(let refusal): self.init(.lastUsableIdentity, refusal)
        case .identityNotReviewable(let refusal): self.init(.invalidParameter, refusal)
        case .otherIdentityRequired(let refusal): self.init(.tokenTooOld, refusal)
        case .limitReached(let limit, let refusal):
            self.init(.limitReached, refusal)
            details?["limit"] = .integer(Int64(limit))
        case .secondProofRequired(let ticket, let refusal): self.init(.secondProofRequired, refusal, ["ticket": ticket])
        case .foreignProof(let refusal): self.init(.invalidCredentials, refusal)
        case .untimedProof(let refusal): self.init(.invalidToken, refusal)
        case .mergeNotFound: self.init(.notFound, "There is no such merge, or none that can be undone")
        case .qrNotFound: self.init(.qrNotFound, "There is no such sign-in")
        case .qrCompleted: self.init(.qrCompleted, "The sign-in was answered already")
        case .qrExpired: self.init(.qrExpired, "The sign-in has expired; ask for a new code")
        case .qrWrongNumber: self.init(.qrWrongNumber, "The number is another; ask for a new code")
        case .grantNotFound: self.init(.grantNotFound, "The account has given the client nothing")
        case .sessionNotFound: self.init(.sessionNotFound, "There is no such session")
        case .receiptNotFound: self.init(.notFound, "There is no such receipt")
        case .accountDisabled(let refusal): self.init(.accountDisabled, refusal)
        case .accountDeleted(let purgeAfter, let restoreToken, let refusal):
            let further = ["purgeAfter": Timestamp(purgeAfter).text, "restoreToken": restoreToken]
            self.init(.accountDeleted, refusal, further)
        case .rateLimited(let delay):
            self.init(.rateLimited, "Too many requests; wait before trying again", retryAfter: delay)
        case .overloaded(let delay): self.init(.overloaded, "The server is busy; try again", retryAfter: delay)
        case .unavailable:
            self.init(.overloaded, "The server can't answer at the moment; try again", retryAfter: .seconds(1))
        case .unreadableSecret: self.init(.internal, "Something went wrong")
        }
    }

    /// Converts a refusal by the linking rules; `further` is added to its details.
    private init(_ code: ErrorCode, _ refusal: Refusal, _ further: [String: String?] = [:]) {
        var details: [String: JSONValue] = [
            "rule": .string(refusal.rule), "reason": .string(refusal.reason),
            "remedies": .array(refusal.remedies.map { .string($0) }),
        ]
        for case (let name, let value?) in further { details[name] = .string(value) }
        self.init(code, refusal.reason, details: details)
    }
}
