internal import ProviderKit

/// What the document says about one method of one path.
struct OperationDescription: Sendable {
    /// Who may call.
    enum Access: Sendable {
        case open
        /// Whoever calls, with a bearer or without.
        case optionalBearer
        case bearer
        /// A bearer who authenticated not long ago.
        case recent
    }

    /// An upper-case method of HTTP.
    let method: String
    /// With its parameters in braces: `/auth/sessions/{id}`.
    let path: String
    let summary: String
    let tag: String
    let access: Access
    let body: JSONSchema?
    /// The body's media type.
    let bodyType: String
    let parameters: [Parameter]
    let answers: [Answer]
    let errors: [ErrorDescription]
    /// Errors come as pages for browsers too.
    let answersPages: Bool

    /// An operation; `body` is the type that the request's JSON is decoded as, `form` the fields of one that takes a form.
    init(
        method: String, path: String, summary: String, tag: String, access: Access,
        body: (any RequestPayload.Type)? = nil,
        form: [Parameter] = [], parameters: [Parameter] = [], answers: [Answer], errors: [ErrorDescription] = [],
        answersPages: Bool = false
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.tag = tag
        self.access = access
        self.body = form.isEmpty ? body.map { $0.schema.sent } : .form(form)
        bodyType = form.isEmpty ? "application/json" : "application/x-www-form-urlencoded"
        self.parameters = parameters
        self.answersPages = answersPages
        self.answers = answers
        self.errors = errors
    }
}

extension OperationDescription {
    /// Something that the request carries outside its body; those of the path need no declaration.
    struct Parameter: Sendable {
        enum Place: String, Sendable {
            case query, header
        }

        let name: String
        let place: Place
        let isRequired: Bool
        let help: String
        let schema: JSONSchema

        init(
            _ name: String, in place: Place = .query, required: Bool = false, help: String, schema: JSONSchema = .string
        ) {
            self.name = name
            self.place = place
            isRequired = required
            self.help = help
            self.schema = schema
        }
    }

    /// One way in which it succeeds.
    struct Answer: Sendable {
        let status: Int
        let description: String
        /// `nil` for an answer without content.
        let contentType: String?
        let schema: JSONSchema?
        /// Names of header fields, with a sentence about each.
        let headers: [String: String]

        /// An answer in JSON.
        init(
            status: Int, description: String, schema: JSONSchema, contentType: String = "application/json",
            headers: [String: String] = [:]
        ) {
            self.status = status
            self.description = description
            self.contentType = contentType
            self.schema = schema
            self.headers = headers
        }

        /// An answer in JSON, as the type is written.
        init(
            status: Int, description: String, of type: any DocumentedValue.Type, headers: [String: String] = [:]
        ) {
            self.init(status: status, description: description, schema: type.schema, headers: headers)
        }

        /// An answer without content, or with content that no schema describes.
        init(
            status: Int, description: String, contentType: String? = nil, headers: [String: String] = [:]
        ) {
            self.status = status
            self.description = description
            self.contentType = contentType
            schema = nil
            self.headers = headers
        }
    }

    /// One code of the error envelope, with the status that it comes with.
    struct ErrorDescription: Sendable, Hashable {
        let status: Int
        let code: String
        /// The members of `details` that it may have.
        let details: [String]

        init(status: Int, code: String, details: [String] = []) {
            self.status = status
            self.code = code
            self.details = details
        }
    }
}

extension JSONSchema {
    fileprivate static func form(_ fields: [OperationDescription.Parameter]) -> JSONSchema {
        .object(
            Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.schema) }),
            required: Set(fields.filter(\.isRequired).map(\.name)))
    }
}

extension OperationDescription {
    /// `postAuthEmailOtpVerify`: the method and the words of the path below the API's base.
    var operationID: String {
        let words = path.split(separator: "/").drop { $0 == "api" || $0 == "v1" }.flatMap { segment in
            (segment.hasPrefix("{") ? "by-" + segment : segment).split { !$0.isLetter && !$0.isNumber }
        }
        return words.reduce(into: method.lowercased()) { $0 += $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// The names in braces, in the path's order.
    var pathParameters: [String] {
        path.matches(of: /\{([^}]*)\}/).map { String($0.output.1) }
    }
}
