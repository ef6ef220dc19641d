public import Foundation

extension GatehouseError {
    /// The details of a refused call.
    ///
    /// Its tickets are `Secret` values, which descriptions do not show.
    public struct Refusal: Sendable, Hashable {
        /// The stable code.
        public let code: Code
        /// A sentence for developers.
        public let message: String
        /// The HTTP status; 0 if the refusal comes from a provider's page or from the library.
        public let status: Int
        /// The stable id of the linking rule that refused the call.
        public var rule: String?
        /// Why the rule refused the call, in a sentence.
        public var reason: String?
        /// What the person can do, one sentence for each way.
        public var remedies: [String] = []
        /// Why a new password is refused: `tooShort`, `tooLong` or `tooGuessable`.
        public var reasons: [String] = []
        /// How many identities an account may have.
        public var limit: Int?
        /// How long to wait before the call is repeated.
        public var retryAfter: Duration?
        /// When a deleted account will be erased.
        public var purgeAfter: Date?
        /// The ticket for `merge`; `nil` if a merge is not possible.
        public var mergeToken: GatehouseClient.Secret?
        /// The ticket for `restoreAccount`.
        public var restoreToken: GatehouseClient.Secret?
        /// The ticket for `signIn` with a second proof of the same account.
        public var ticket: GatehouseClient.Secret?

        init(code: Code, message: String, status: Int = 0) {
            self.code = code
            self.message = message
            self.status = status
        }
    }
}

extension GatehouseError.Refusal {
    /// The body of an error.
    struct Envelope: Decodable {
        struct Content: Decodable {
            let code: GatehouseError.Code
            let message: String?
            let details: Details?
        }

        struct Details: Decodable {
            let rule, reason: String?
            let remedies, reasons: [String]?
            let limit: Int?
            let purgeAfter: Date?
            let mergeToken, restoreToken, ticket: GatehouseClient.Secret?
        }

        let error: Content
    }

    init(_ envelope: Envelope, status: Int, retryAfter: Duration?) {
        self.init(code: envelope.error.code, message: envelope.error.message ?? "", status: status)
        self.retryAfter = retryAfter
        guard let details = envelope.error.details else { return }
        (rule, reason, limit) = (details.rule, details.reason, details.limit)
        (remedies, reasons) = (details.remedies ?? [], details.reasons ?? [])
        (purgeAfter, mergeToken) = (details.purgeAfter, details.mergeToken)
        (restoreToken, ticket) = (details.restoreToken, details.ticket)
    }
}
