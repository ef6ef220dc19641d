internal import Accounts
internal import Administration
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// An operation of the admin API: the scope that it needs, and one call of a use case.
///
/// Only these operations can be served below the admin API's base path, so no route lacks a scope.
struct AdminOperation<Input: Sendable, Output: Sendable>: Sendable {
    typealias Run = @Sendable (AdminRequest, Input) async throws -> Output

    private let operation: Operation<Input, Output>

    /// Creates an operation.
    ///
    /// With the scope `nil` any administrator may call it. `limit` is counted by administrator, in addition to the limits
    /// by client and by key. An operation that takes long, or waits for others, has a capacity of
    /// its own; so has one that reads something before it waits for the common one (`AdminRequest.inTurn`). One that
    /// `needsProof` is refused to a person whose last proof is older than `admin.stepUp`.
    init(
        _ name: String, scope: AdminScope?, limit: RateLimit? = nil, hasOwnCapacity: Bool = false,
        needsProof: Bool = false, errors: [ErrorCode] = [], run: @escaping Run
    ) {
        operation = Operation(
            "admin.\(name)", access: .administrator(scope), limits: .administration, errors: errors
        ) { context, input in
            let request = try AdminRequest(context)
            if needsProof { try request.requireProof() }
            if let limit {
                let subject = RateSubject(target: request.administrator.limitName)
                try await request.limits.spend(limit, of: subject, in: request.application)
            }
            if hasOwnCapacity { return try await run(request, input) }
            return try await request.inTurn { try await run(request, input) }
        }
    }

    /// Serves the operation at a method and a path below the base of the admin API.
    func at(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String, takes: RequestShape<Input>,
        returns: ResponseShape<Output>
    ) -> Endpoint {
        var takes = takes
        (takes.taken.isOfAdministration, takes.taken.origins) = (true, .none)
        return operation.at(
            method, below: Endpoint.administrationBase, path, summary, takes: takes, returns: returns)
    }
}

extension Endpoint {
    /// The path prefix of the admin API.
    static let administrationBase = base + "/admin"
}

/// A request to the admin API: its administrator, and what operations use.
struct AdminRequest: Sendable {
    let administrator: Administrator
    let context: OperationContext
    let services: AdministrationUseCases

    fileprivate init(_ context: OperationContext) throws {
        guard let session = context.administration else { throw AccountsError.invalidToken }
        (administrator, self.context, services) = (session.administrator, context, session.services)
    }

    var application: Accounts.Application { administrator.application }
    /// The settings of the section `admin`.
    var settings: AdministrationSettings {
        get throws {
            guard let settings = context.scope.site.administration else { throw APIError.nothingHere }
            return settings
        }
    }

    /// Requires a fresh proof of a person at the console.
    ///
    /// - Throws: `AccountsError.tokenTooOld`.
    func requireProof() throws {
        guard let console = try settings.console else { return }
        try administrator.requireProof(within: console.rules.stepUp)
    }

    fileprivate var limits: any RateLimiting { services.limits }

    /// Runs what an operation does in the capacity that all have in common.
    func inTurn<Output>(_ body: () async throws -> Output) async throws -> Output {
        try await services.capacity.run {
            do {
                return try await body()
            } catch AccountsError.accountNotFound {
                throw AdministrationError.accountNotFound
            }
        }
    }

    /// A part of a list that was read as a whole.
    ///
    /// - Throws: `AccountsError.invalidParameter` for the cursor of another list.
    func page<Item>(
        of items: [Item], asked query: AdminQuery, in list: String, id: (Item) -> String
    ) throws -> Page<Item> {
        try services.cursors.page(of: items, identifiedBy: id, query.page, in: .init(list, of: application))
    }

    /// The act of this caller, for the audit.
    func act(because reason: AdministrativeAct.Reason? = nil) -> AdministrativeAct {
        AdministrativeAct(by: administrator.actor, because: reason)
    }
}

/// The caller of an operation of the admin API, and what every such operation uses.
///
/// This type is a class, because every request copies its context several times, and few have a caller of this kind.
final class AdministratorSession: Sendable {
    let administrator: Administrator
    let services: AdministrationUseCases

    init(_ administrator: Administrator, services: AdministrationUseCases) {
        (self.administrator, self.services) = (administrator, services)
    }
}
