internal import ProviderKit

/// The description of one method of one path for the OpenAPI document.
struct OperationDescription: Sendable {
    /// The HTTP method in upper case.
    let method: String
    /// The path with its parameters in braces: `/auth/sessions/{id}`.
    let path: String
    let summary: String
    let tag: String
    let access: Access
    var request = TakenRequest()
    let responses: [ReturnedResponse]
    var errors: [ErrorCode] = []

    /// A parameter of the query or a field of the form; path parameters are derived from `path`.
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
    /// The method and the words of the path below the API's base, as in `postAuthEmailOtpVerify`.
    var operationID: String {
        let words = path.split(separator: "/").drop { $0 == "api" || $0 == "v1" }.flatMap { segment in
            (segment.hasPrefix("{") ? "by-" + segment : segment).split { !$0.isLetter && !$0.isNumber }
        }
        return words.reduce(into: method.lowercased()) { $0 += $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// The names of the path's parameters, in the order of the path.
    var pathParameters: [String] { path.matches(of: /\{([^}]*)\}/).map { String($0.output.1) } }
}
