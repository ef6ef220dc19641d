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
    var request = TakenRequest()
    let responses: [ReturnedResponse]
    var errors: [ErrorCode] = []

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
