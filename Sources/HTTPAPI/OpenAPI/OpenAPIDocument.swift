internal import Foundation
internal import ProviderKit

/// The document at `/openapi.json` (OpenAPI 3.1), generated from the declarations that serve requests.
///
/// The same operations always produce the same bytes, so that two builds of one source can be compared.
struct OpenAPIDocument: Sendable {
    private let title: String
    private let version: String
    private let server: String
    private let errorEnvelope: JSONSchema
    private let operations: [OperationDescription]

    /// Creates a document about these operations; `server` is the base URL of their paths, absolute or relative to the
    /// document's URL.
    ///
    /// `errorEnvelope` is the schema of every error's body, which must contain the error code at `error.code`.
    init(
        title: String, version: String, server: String, errorEnvelope: JSONSchema, operations: [OperationDescription]
    ) {
        self.title = title
        self.version = version
        self.server = server
        self.errorEnvelope = errorEnvelope
        self.operations = operations
    }

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
                "securitySchemes": .object(["bearer": Self.bearer]),
            ]),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(JSONValue.object(document)))
    }

    /// The tags of all operations, in the order of their first use.
    private var tags: [String] {
        var seen: Set<String> = []
        return operations.map(\.tag).filter { seen.insert($0).inserted }
    }

    private static let bearer = JSONValue.object([
        "type": .string("http"), "scheme": .string("bearer"), "bearerFormat": .string("JWT"),
        "description": .string("The access token of a session."),
    ])

    private func paths(_ components: ComponentSchemas) throws -> [String: JSONValue] {
        let writer = OperationWriter(components: components, errorEnvelope: errorEnvelope)
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
