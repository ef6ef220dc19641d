internal import Foundation
internal import ProviderKit

/// The document at `/openapi.json` (OpenAPI 3.1), generated from the declarations that serve requests.
///
/// The same operations always produce the same bytes, so that two builds of one source can be compared.
struct OpenAPIDocument: Sendable {
    let title: String
    let version: String
    /// The base URL of the operations' paths, absolute or relative to the document's URL.
    let server: String
    /// The schema of every error's body.
    let errorEnvelope: JSONSchema
    /// Whether the error code is at `error.code` of that body, where each operation lists its codes.
    var namesErrorCodes = true
    /// The ways to present a credential, of which an operation that needs one takes any.
    var securitySchemes = [SecurityScheme.accessToken]
    let operations: [OperationDescription]

    /// - Throws: `OpenAPIError` if two operations have the same identifier.
    func json() throws -> [UInt8] {
        let components = ComponentSchemas()
        let paths = try self.paths(components)
        let document: [String: JSONValue] = [
            "openapi": .string("3.1.0"),
            "info": .object(["title": .string(title), "version": .string(version)]),
            "servers": .array([.object(["url": .string(server)])]),
            "tags": .array(tags.map { .object(["name": .string($0)]) }),
            "paths": .object(paths),
            "components": .object([
                "schemas": .object(components.written),
                "securitySchemes": .object(
                    Dictionary(securitySchemes.map { ($0.name, $0.json) }) { first, _ in first }),
            ]),
        ]
        return Array(try JSONEncoder.stable.encode(JSONValue.object(document)))
    }

    /// The tags of all operations, in the order of their first use.
    private var tags: [String] {
        var seen: Set<String> = []
        return operations.map(\.tag).filter { seen.insert($0).inserted }
    }

    private func paths(_ components: ComponentSchemas) throws -> [String: JSONValue] {
        let writer = OperationWriter(
            components: components, errorEnvelope: errorEnvelope, namesErrorCodes: namesErrorCodes,
            securitySchemes: securitySchemes)
        var paths: [String: [String: JSONValue]] = [:]
        var identifiers: Set<String> = []
        for operation in operations {
            guard identifiers.insert(operation.operationID).inserted else {
                throw OpenAPIError.sameIdentifier(operation.operationID)
            }
            paths[operation.path, default: [:]][operation.method.lowercased()] = writer.json(of: operation)
        }
        return paths.mapValues { .object($0) }
    }
}

/// A mistake in the declarations, because of which the document can't be written.
enum OpenAPIError: Error, Equatable {
    /// Two operations have the same `operationId`.
    case sameIdentifier(String)
}

/// Collects the named schemas while the operations are written.
final class ComponentSchemas {
    private(set) var written: [String: JSONValue] = [:]

    func json(of schema: JSONSchema) -> JSONValue {
        guard let name = schema.name else { return schema.json(nesting: json(of:)) }
        if written[name] == nil { written[name] = schema.json(nesting: json(of:)) }
        return JSONSchema.reference(to: name).json(nesting: json(of:))
    }
}

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
    /// The status of an error.
    var status: @Sendable (ErrorCode) -> Int = { $0.status }

    /// A parameter of the query, a field of the form or of the header; path parameters are derived from `path`.
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
