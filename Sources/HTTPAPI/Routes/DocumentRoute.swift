internal import Accounts
internal import Hummingbird

/// The document, generated at the first request, because generating it takes longer than the rest of the server's
/// start.
private actor Document {
    private let endpoints: [Endpoint]
    private let title: String
    /// Relative to the document's URL, so that it is right with and without an application's prefix.
    private let server: String
    private let dialect: (any Dialect.Type)?
    private let securitySchemes: [SecurityScheme]
    private var written: [UInt8]?

    init(of endpoints: [Endpoint], in dialect: (any Dialect.Type)? = nil, forAdministrators: Bool = false) {
        (self.endpoints, self.dialect) = (endpoints, dialect)
        securitySchemes =
            dialect?.credentials.map(SecurityScheme.sessionToken) ?? [forAdministrators ? .serviceKey : .accessToken]
        title = dialect.map { "Gatehouse: \($0.name)" } ?? "Gatehouse\(forAdministrators ? " administration" : "")"
        server = forAdministrators ? "../../.." : dialect == nil ? "." : ".."
    }

    /// - Throws: `OpenAPIError` if two declarations have the same identifier.
    func json() throws -> [UInt8] {
        if let written { return written }
        let json = try OpenAPIDocument(
            title: title, version: HTTPAPI.version, server: server,
            errorEnvelope: dialect?.errorSchema ?? ErrorPayload.schema, namesErrorCodes: dialect == nil,
            securitySchemes: securitySchemes, operations: endpoints.map(\.operation)
        ).json()
        written = json
        return json
    }
}

extension Endpoint {
    /// Serves `/openapi.json`, generated from the declared endpoints.
    static func document(of endpoints: [Endpoint]) -> Endpoint {
        let document = Document(of: endpoints)
        return .open("/openapi.json", "This interface, as an OpenAPI document") { _ in
            .bytes(try await document.json(), type: "application/json")
        }
    }

    /// Serves the document of the admin API to clients that may know of it.
    static func administrationDocument(of endpoints: [Endpoint]) -> Endpoint {
        let document = Document(of: endpoints, forAdministrators: true)
        return .open(
            administrationBase + "/openapi.json", "This interface, as an OpenAPI document",
            takes: TakenRequest(isOfAdministration: true, origins: .none)
        ) { _ in
            .bytes(try await document.json(), type: "application/json")
        }
    }

    /// Serves `/openapi/NAME.json` where the dialect is on.
    static func document(of endpoints: [Endpoint], in dialect: any Dialect.Type) -> Endpoint {
        let document = Document(of: endpoints, in: dialect)
        return Endpoint.open(
            "/openapi/\(dialect.name).json", "The dialect, as an OpenAPI document",
            takes: TakenRequest(isForBrowsers: true)
        ) { _ in
            .bytes(try await document.json(), type: "application/json")
        }.spoken(in: dialect)
    }

    var operation: OperationDescription {
        OperationDescription(
            method: method.rawValue, path: path, summary: summary,
            tag: takes.isOfAdministration ? "administration" : dialect?.name ?? (isOfAPI ? "accounts" : "server"),
            access: guards.access, request: takes, responses: returns, errors: documentedErrors,
            status: errorStatus)
    }

    /// The status of an error: apps of dialects sign people out at any 401, so there only a token has it.
    private var errorStatus: @Sendable (ErrorCode) -> Int {
        guard dialect != nil else { return { $0.status } }
        // Only operations that take the code of a redirect flow can refuse its state.
        let takesCode = guards.access == .open && guards.errors.contains(.invalidState)
        let takesBearer = guards.access != .open
        return { code in
            switch code {
            case .invalidToken where takesCode: 400
            case .invalidCredentials where takesBearer: 400
            default: code.status
            }
        }
    }

    private var isOfAPI: Bool { path.hasPrefix(base) }

    /// The operation's own errors, and those of the checks that run before it.
    private var documentedErrors: [ErrorCode] {
        // Other errors of such a route are among its responses.
        guard writesError == nil else { return [.unknownApplication, .notFound] }
        var all = guards.errors + [.invalidParameter, .httpsRequired, .unknownApplication, .overloaded, .internal]
        if isOfAPI || dialect != nil { all.append(.unauthorizedRequestOrigin) }
        if takes.form != nil { all += [.missingParameter, .unsupportedMediaType] }
        if ![.get, .head].contains(method) { all.append(.payloadTooLarge) }
        if case .administrator = guards.access {
            all += [.invalidToken, .forbidden]
        } else if guards.access != .open {
            all += [.invalidToken, .insufficientScope]
        }
        if guards.access.needsRecency != nil { all.append(.tokenTooOld) }
        if guards.isLimited { all.append(.rateLimited) }
        return ErrorCode.allCases.filter(Set(all).contains)
    }
}
