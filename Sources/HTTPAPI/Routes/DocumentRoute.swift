internal import ProviderKit
internal import Accounts
internal import Hummingbird

/// `/openapi.json`, from the declarations that serve.
struct DocumentRoute {
    private let document: Document

    init(describing endpoints: [Endpoint]) {
        document = Document(endpoints: endpoints)
    }

    var endpoint: Endpoint {
        .raw("/openapi.json", "This interface, as an OpenAPI document") { [document] _ in
            .bytes(try await document.json(), type: "application/json")
        }
    }
}

/// Written when it is first asked for: that takes longer than all else in a start.
private actor Document {
    private let endpoints: [Endpoint]
    private var written: [UInt8]?

    init(endpoints: [Endpoint]) {
        self.endpoints = endpoints
    }

    /// - Throws: what two declarations that can't be told apart make of the document.
    func json() throws -> [UInt8] {
        if let written { return written }
        // Relative to where the client found the document, with or without an application's prefix.
        let document = OpenAPIDocument(
            title: "Gatehouse", version: "1", server: ".", errorEnvelope: ErrorPayload.schema,
            operations: endpoints.map(\.operation))
        let json = try document.json()
        written = json
        return json
    }
}

extension Endpoint {
    var operation: OperationDescription {
        OperationDescription(
            method: method.rawValue, path: path, summary: summary, tag: tag, access: access.description, body: body,
            form: takesForm ? parameters : [], parameters: takesForm ? [] : parameters,
            answers: ([answer] + otherAnswers).map(\.documented),
            errors: documentedErrors.map { .init(status: $0.status, code: $0.rawValue, details: $0.details) },
            answersPages: isForBrowsers)
    }

    private var takesForm: Bool { bodyForm == .form }

    private var parameters: [OperationDescription.Parameter] {
        query.map { .init($0.name, required: $0.isRequired, help: $0.help, schema: $0.schema) }
    }

    /// Its own, and those of the checks that come before its handler.
    private var documentedErrors: [ErrorCode] {
        let general: [ErrorCode] = [
            .invalidParameter, .httpsRequired, .unknownApplication, .overloaded, .internal,
        ]
        let ofAPI: [ErrorCode] = path.hasPrefix(base) ? [.unauthorizedRequestOrigin] : []
        let ofBody: [ErrorCode] =
            bodyForm == nil ? [] : [.missingParameter, .payloadTooLarge, .unsupportedMediaType]
        let ofBearer: [ErrorCode] =
            switch access {
            case .open: []
            case .bearer, .optionalBearer: [.invalidToken]
            case .recent: [.invalidToken, .tokenTooOld]
            }
        let ofLimit: [ErrorCode] = hasClientLimit ? [.rateLimited] : []
        let all = Set(errors + general + ofAPI + ofBody + ofBearer + ofLimit)
        return ErrorCode.allCases.filter(all.contains)
    }

    private var tag: String {
        path.hasPrefix(base) ? "accounts" : "server"
    }
}

extension Endpoint.Answer {
    fileprivate var documented: OperationDescription.Answer {
        body.map {
            OperationDescription.Answer(status: status.code, description: description, of: $0, headers: headers)
        }
            ?? OperationDescription.Answer(
                status: status.code, description: description, contentType: contentType, headers: headers)
    }
}

extension Endpoint.Access {
    fileprivate var description: OperationDescription.Access {
        switch self {
        case .open: .open
        case .optionalBearer: .optionalBearer
        case .bearer: .bearer
        case .recent: .recent
        }
    }
}
