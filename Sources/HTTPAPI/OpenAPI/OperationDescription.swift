internal import ProviderKit

/// What the document says about one method of one path.
struct OperationDescription: Sendable {
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
    /// Browsers receive errors as pages.
    let answersPages: Bool

    /// An operation that takes JSON of the type `body`, a form with the fields `form`, or no body.
    init(
        method: String, path: String, summary: String, tag: String, access: Access,
        body: (any RequestPayload.Type)? = nil, form: [Parameter] = [], parameters: [Parameter] = [],
        answers: [Answer], errors: [ErrorDescription] = [], answersPages: Bool = false
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
    /// A parameter of the query or a field of the form; those of the path need no declaration.
    struct Parameter: Sendable {
        let name: String
        let isRequired: Bool
        let help: String
        let schema: JSONSchema

        init(_ name: String, required: Bool = false, help: String, schema: JSONSchema = .string) {
            self.name = name
            isRequired = required
            self.help = help
            self.schema = schema
        }
    }

    /// One way in which the operation succeeds.
    struct Answer: Sendable {
        let status: Int
        let description: String
        /// `nil` for a response without content.
        let contentType: String?
        let schema: JSONSchema?
        /// Names of header fields, with a sentence about each.
        let headers: [String: String]

        /// A response in JSON.
        init(status: Int, description: String, of type: any DocumentedValue.Type, headers: [String: String] = [:]) {
            self.status = status
            self.description = description
            contentType = "application/json"
            schema = type.schema
            self.headers = headers
        }

        /// A response without content, or with content that no schema describes.
        init(status: Int, description: String, contentType: String? = nil, headers: [String: String] = [:]) {
            self.status = status
            self.description = description
            self.contentType = contentType
            schema = nil
            self.headers = headers
        }
    }

    /// One code of the error envelope, and its status.
    struct ErrorDescription: Sendable, Hashable {
        let status: Int
        let code: String
        /// The members of `details` that it may have.
        var details: [String] = []
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
