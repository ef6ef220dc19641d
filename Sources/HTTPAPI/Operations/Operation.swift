internal import Accounts
internal import Administration
internal import ProviderKit

/// Who may call an operation.
enum Access: Sendable, Equatable {
    case open
    /// Anyone, but if an access token is sent, it must be valid.
    case optionalBearer
    case bearer
    /// Callers with an access token, and callers whose token has expired or whose session has ended, who then have no
    /// principal.
    case formerBearer
    /// Callers with an access token whose session was authenticated recently.
    case recent
    /// The same for the deletion of an account, for which an application may waive it.
    case recentToDelete
    /// Callers that answer sign-ins of other devices: also clients with the scope `qr`.
    case scanner
    /// Administrators with that scope; `nil` for any of them.
    case administrator(AdminScope?)

    /// The kind of call for which the authentication must be recent; `nil` if it need not be.
    var needsRecency: SensitiveCall? {
        switch self {
        case .recent: .any
        case .recentToDelete: .deletion
        case .open, .optionalBearer, .bearer, .formerBearer, .scanner, .administrator: nil
        }
    }
}

/// The guards of a request and one call of a use case, independent of path and wire format.
///
/// `Endpoint` serves an operation at a method and path. An endpoint can only be created from an operation, so every
/// route has an access rule and limits, and all routes of one operation share them.
struct Operation<Input: Sendable, Output: Sendable>: Sendable {
    typealias Run = @Sendable (OperationContext, Input) async throws -> Output
    typealias HashingCondition = @Sendable (_ input: () -> Input?, ProviderRegistry) -> Bool

    let guards: OperationGuards
    let limits: OperationLimits<Input>
    /// Whether the call computes a password hash.
    ///
    /// Such a call is refused at once if the hashing queue is full, and cancelled if the client disconnects. It holds a
    /// place in the queue until it ends, so it must not wait for other servers.
    let hashesPassword: HashingCondition
    let run: Run

    /// Creates an operation; `name` is subject and verb, as in `password.signIn`, and `errors` excludes those of the
    /// guards.
    ///
    /// `limits` and `hashesPassword` may read the input before the limits are counted; it is `nil` if it can't be read.
    init(
        _ name: String, access: Access = .open, limits: OperationLimits<Input>,
        hashesPassword: @escaping HashingCondition = { _, _ in false },
        admitsFormerGuests: Bool = false, errors: [ErrorCode] = [], run: @escaping Run
    ) {
        guards = OperationGuards(
            name: name, access: access, admitsFormerGuests: admitsFormerGuests, isLimited: limits.isLimited,
            errors: errors)
        self.limits = limits
        self.hashesPassword = hashesPassword
        self.run = run
    }
}

/// The guards of an operation that do not depend on its input.
struct OperationGuards: Sendable {
    let name: String
    let access: Access
    /// Whether a guest whose session has just moved to another account may repeat the call.
    let admitsFormerGuests: Bool
    /// Whether a client can be refused for calling too often.
    let isLimited: Bool
    let errors: [ErrorCode]
}

/// The rate limit per client that a call counts toward before the access token is checked.
enum ClientLimit: Sendable {
    /// Shared by all operations that name it.
    case named(RateLimit)
    /// The limit `general`, counted for each route separately and for all replicas together.
    case general
    /// The limit `general`, counted for each route separately and by each replica alone, so that it needs no database.
    case local
    /// The limit of clients of the admin API, counted by each replica alone.
    case administration
    case none
}

/// The rate limits of an operation per client and per target, such as an e-mail address.
struct OperationLimits<Input: Sendable>: Sendable {
    typealias Choice = @Sendable (_ input: () -> Input?, ProviderRegistry) -> RateLimit?

    private let client: ClientLimit
    /// The limit for the address or phone number to which the operation sends a message.
    ///
    /// The use case counts the call toward it, because only the provider can normalise the target.
    let target: RateLimit?
    private let choice: Choice

    private init(_ client: ClientLimit, target: RateLimit? = nil, choice: @escaping Choice = { _, _ in nil }) {
        self.client = client
        self.target = target
        self.choice = choice
    }

    static var general: Self { Self(.general) }
    static var local: Self { Self(.local) }
    static var administration: Self { Self(.administration) }
    /// No limit: for reads with an access token, and for pages of the development server.
    static var none: Self { Self(.none) }

    static func client(_ limit: RateLimit?, target: RateLimit? = nil) -> Self {
        Self(limit.map { .named($0) } ?? .general, target: target)
    }

    /// A limit that `choice` selects by the input and the configured providers; if it returns `nil`, calls count toward
    /// `general`.
    static func chosen(target: RateLimit? = nil, _ choice: @escaping Choice) -> Self {
        Self(.general, target: target, choice: choice)
    }

    func limit(for input: () -> Input?, providers: ProviderRegistry) -> ClientLimit {
        choice(input, providers).map { .named($0) } ?? client
    }

    var isLimited: Bool {
        if case .none = client { return target != nil }
        return true
    }
}

extension ProviderRegistry {
    /// Whether proofs of the provider may be passwords; `false` if there is no such provider.
    func takesPasswords(_ name: String?) -> Bool { (name.flatMap { try? named($0) })?.provider is any PasswordProvider }

    /// The limit named like the provider's direct route; `nil` if there is no such provider, route or limit.
    func limit(ofProvider name: String?) -> RateLimit? {
        name.flatMap { try? named($0) }?.directRoute.flatMap { RateLimit(rawValue: $0) }
    }
}

extension [ErrorCode] {
    /// The errors with which a sign-in with valid evidence can be refused.
    static let signIn: Self = [
        .accountDisabled, .accountDeleted, .providerDisabled, .secondProofRequired, .limitReached,
    ]
}
