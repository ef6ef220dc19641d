internal import ProviderKit
internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// One path and method: how it is documented and how it is served, from one declaration.
struct Endpoint: Sendable {
    /// Who may context.
    enum Access: Sendable {
        case open
        /// Whoever calls, but a bearer that is sent must be right.
        case optionalBearer
        case bearer
        /// A bearer who authenticated not long ago.
        case recent
    }

    typealias Handler = @Sendable (OperationContext, ByteBuffer) async throws -> Response

    let method: HTTPRequest.Method
    let path: String
    let summary: String
    let access: Access
    var body: (any RequestPayload.Type)?
    /// What the query, or the body of an endpoint for browsers, may say.
    var query: [Parameter] = []
    /// The limit by client that each call counts toward, before the bearer is checked; `general` where it names none,
    /// unless a bearer reads.
    var limit: RateLimit?
    /// No limit by client.
    var isUnlimited = false
    /// The provider whose rate limit this call shares, if it has one.
    var limitedProvider: (@Sendable (Parameters, ByteBuffer) -> String?)?
    /// Which bodies count toward `limit`, where not all do; the others count toward `general`.
    var isLimited: @Sendable (ByteBuffer) -> Bool = { _ in true }
    /// Which bodies have a password hashed: they are refused before anything else is done for them when there is no
    /// place in that queue, and their client is watched while they wait there.
    var hashesPassword: @Sendable (ByteBuffer) -> Bool = { _ in false }
    /// Pages of other origins send browsers here, by form too: the origin and JSON rules are not for it.
    var isForBrowsers = false
    /// A guest who has just gone over to another account may repeat the context.
    var admitsFormerGuests = false
    /// A GET that changes something is no question that HEAD may ask too (RFC 9110, 9.2.1).
    var answersHEAD = true
    var answer: Answer
    /// Further ones, for other bodies.
    var otherAnswers: [Answer] = []
    /// Those that are its own, beside what every endpoint of its access can answer.
    var errors: [ErrorCode]
    let handle: Handler

    struct Parameter: Sendable {
        let name: String
        var isRequired = false
        let help: String
        var schema = JSONSchema.string
    }

    struct Answer: Sendable {
        var status: HTTPResponse.Status
        var body: (any DocumentedValue.Type)?
        var description: String
        /// The media type of content that no schema describes.
        var contentType: String?
        /// Header fields that a client needs, each with a sentence.
        var headers: [String: String] = [:]
    }
}

/// Where the client's calls live.
let base = "/api/v1"

extension Endpoint {
    /// An endpoint that takes a JSON body and answers with one.
    static func post<Body: RequestPayload, Answer: ResponsePayload>(
        _ path: String, _ summary: String, access: Access = .open, method: HTTPRequest.Method = .post,
        limit: RateLimit? = nil, takes: Body.Type, answers: Answer.Type, status: HTTPResponse.Status = .ok,
        errors: [ErrorCode] = [],
        _ handler: @escaping @Sendable (OperationContext, Body) async throws -> Answer
    ) -> Endpoint {
        Endpoint(
            method: method, path: base + path, summary: summary, access: access, body: Body.self, limit: limit,
            answer: .init(status: status, body: Answer.self, description: summary), errors: errors
        ) { context, buffer in
            let body = try RequestBody.decode(Body.self, from: buffer)
            return .json(try await handler(context, body), status: status)
        }
    }

    /// An endpoint that takes a JSON body and answers without one; its limit may be for some bodies only.
    static func post<Body: RequestPayload>(
        _ path: String, _ summary: String, access: Access = .open, method: HTTPRequest.Method = .post,
        limit: RateLimit? = nil, where isLimited: (@Sendable (Body) -> Bool)? = nil,
        takes: Body.Type, status: HTTPResponse.Status = .noContent, errors: [ErrorCode] = [],
        _ handler: @escaping @Sendable (OperationContext, Body) async throws -> HTTPFields
    ) -> Endpoint {
        Endpoint(
            method: method, path: base + path, summary: summary, access: access, body: Body.self, limit: limit,
            isLimited: { buffer in
                guard let isLimited else { return true }
                // What can't be read is refused later, with nothing done for it.
                return (try? RequestBody.decode(Body.self, from: buffer)).map(isLimited) ?? false
            },
            answer: .init(status: status, body: nil, description: summary), errors: errors
        ) { context, buffer in
            let body = try RequestBody.decode(Body.self, from: buffer)
            return Response(status: status, headers: try await handler(context, body))
        }
    }

    /// An endpoint that answers a question.
    static func get<Answer: ResponsePayload>(
        _ path: String, _ summary: String, access: Access = .open, answers: Answer.Type, errors: [ErrorCode] = [],
        _ handler: @escaping @Sendable (OperationContext) async throws -> Answer
    ) -> Endpoint {
        Endpoint(
            method: .get, path: base + path, summary: summary, access: access,
            answer: .init(status: .ok, body: Answer.self, description: summary), errors: errors
        ) { context, _ in
            .json(try await handler(context))
        }
    }

    /// An endpoint whose answer was written beforehand.
    static func get<Answer: ResponsePayload>(
        _ path: String, _ summary: String, answersWritten: Answer.Type,
        _ handler: @escaping @Sendable (OperationContext) -> ByteBuffer
    ) -> Endpoint {
        Endpoint(
            method: .get, path: base + path, summary: summary, access: .open,
            answer: .init(status: .ok, body: Answer.self, description: summary), errors: []
        ) { context, _ in
            .json(written: handler(context))
        }
    }

    /// An endpoint that removes something and answers without a body.
    static func delete(
        _ path: String, _ summary: String, access: Access, headers: [String: String] = [:], errors: [ErrorCode] = [],
        _ handler: @escaping @Sendable (OperationContext) async throws -> HTTPFields
    ) -> Endpoint {
        Endpoint(
            method: .delete, path: base + path, summary: summary, access: access,
            answer: .init(status: .noContent, body: nil, description: summary, headers: headers), errors: errors
        ) { context, _ in
            Response(status: .noContent, headers: try await handler(context))
        }
    }

    /// An endpoint outside the API's base, which answers with ready bytes of that type.
    static func raw(
        _ path: String, _ summary: String, type: String = "application/json",
        _ handler: @escaping @Sendable (OperationContext) async throws -> Response
    ) -> Endpoint {
        Endpoint(
            method: .get, path: path, summary: summary, access: .open,
            answer: .init(status: .ok, body: nil, description: summary, contentType: type), errors: []
        ) { context, _ in
            try await handler(context)
        }
    }
}

extension Endpoint {
    /// How calls are counted that count toward no limit of their own.
    enum GeneralLimit {
        /// For all replicas together.
        case shared
        /// At this replica: the call needs no database, and must not begin to.
        case local
        case none
    }

    var generalLimit: GeneralLimit {
        if isUnlimited { return .none }
        guard isRead else { return .shared }
        switch access {
        case .open, .optionalBearer: return .local
        case .bearer, .recent: return .none
        }
    }

    /// Whether a client can be refused for asking too often.
    var hasClientLimit: Bool {
        limit != nil || limitedProvider != nil || generalLimit != .none
    }

    private var isRead: Bool { method == .get && answersHEAD }
}

extension Endpoint {
    /// The same, where every body has a password hashed.
    var hashingPasswords: Endpoint {
        var endpoint = self
        endpoint.hashesPassword = { _ in true }
        return endpoint
    }

    /// The same, where such bodies have a password hashed, and only they count towards the limit.
    func hashingPasswords(where hasPassword: @escaping @Sendable (ByteBuffer) -> Bool) -> Endpoint {
        var endpoint = self
        endpoint.hashesPassword = hasPassword
        endpoint.isLimited = hasPassword
        return endpoint
    }
}

/// What a body without fields decodes to.
struct NoFields: Codable, Sendable {}
