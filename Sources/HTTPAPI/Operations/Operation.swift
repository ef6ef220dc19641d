internal import Accounts

/// Who may call an operation.
enum Access: Sendable {
    case open
    /// Anyone; but an access token that is sent must be valid.
    case optionalBearer
    case bearer
    /// With an access token whose session was authenticated recently.
    case recent
}

/// What a request does, independent of path and wire format: its guards, and one call of a use case.
///
/// `Endpoint` serves an operation at a method and path. As it can only be made from an operation, every route has an
/// access rule and limits, and all routes of one operation share them.
struct Operation<Input: Sendable, Output: Sendable>: Sendable {
    typealias Run = @Sendable (OperationContext, Input) async throws -> Output

    let guards: OperationGuards
    let limits: OperationLimits<Input>
    /// Such calls are refused at once if the hashing queue is full, and given up if the client hangs up.
    let hashesPassword: @Sendable (_ input: () -> Input?) -> Bool
    let run: Run

    /// `name` is subject and verb, as in `password.signIn`; `errors` are those besides the ones of the guards.
    ///
    /// Guards that depend on the input read it before the limits are counted; `nil` is an input that can't be read.
    init(
        _ name: String, access: Access = .open, limits: OperationLimits<Input>,
        hashesPassword: @escaping @Sendable (_ input: () -> Input?) -> Bool = { _ in false },
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

/// The guards of an operation that are the same for every input.
struct OperationGuards: Sendable {
    let name: String
    let access: Access
    /// A guest whose session has just moved to another account may repeat the call.
    let admitsFormerGuests: Bool
    /// A client can be refused for calling too often.
    let isLimited: Bool
    let errors: [ErrorCode]
}

/// The limit by client that a call counts toward, before the access token is checked.
enum ClientLimit: Sendable {
    /// Shared by all operations that name it.
    case named(RateLimit)
    /// `general`, each route on its own, counted for all replicas together.
    case general
    /// `general`, each route on its own, counted by this replica: for what must work without the database.
    case local
    case none
}

/// How often one client may call an operation, and how often calls may concern one target.
struct OperationLimits<Input: Sendable>: Sendable {
    typealias Choice = @Sendable (_ input: () -> Input?, ProviderRegistry) -> RateLimit?

    private let client: ClientLimit
    /// Counted for the address or number that something is sent to.
    ///
    /// The use case spends it, since only the provider knows the normalised target.
    let target: RateLimit?
    private let choice: Choice

    private init(_ client: ClientLimit, target: RateLimit? = nil, choice: @escaping Choice = { _, _ in nil }) {
        self.client = client
        self.target = target
        self.choice = choice
    }

    static var general: Self { Self(.general) }
    static var local: Self { Self(.local) }
    /// For reads with an access token, and for pages of the development server.
    static var none: Self { Self(.none) }

    static func client(_ limit: RateLimit?, target: RateLimit? = nil) -> Self {
        Self(limit.map { .named($0) } ?? .general, target: target)
    }

    /// A limit that depends on the input and the configured providers; without one, calls count toward `general`.
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
    /// The limit of the route that the provider's kind has for itself.
    func limit(ofProvider name: String?) -> RateLimit? {
        name.flatMap { try? named($0) }?.directRoute.flatMap { RateLimit(rawValue: $0) }
    }
}

extension [ErrorCode] {
    /// How a sign-in with valid evidence can be refused.
    static let signIn: Self = [.accountDisabled, .accountDeleted, .providerDisabled, .secondProofRequired]
}
