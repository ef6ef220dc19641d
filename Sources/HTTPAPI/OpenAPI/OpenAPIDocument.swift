internal import Foundation
internal import ProviderKit

/// The document at `/openapi.json` (OpenAPI 3.1), made from the declarations that serve.
///
/// Its bytes depend on the operations alone, so that two builds of one source can be compared.
struct OpenAPIDocument: Sendable {
    private let title: String
    private let version: String
    private let server: String
    private let errorEnvelope: JSONSchema
    private let operations: [OperationDescription]

    /// A document about these operations, whose paths lie below `server`: a URL, or relative to the document's own.
    ///
    /// `errorEnvelope` is the type of every error's body; its code must be at `error.code`.
    init(
        title: String, version: String, server: String, errorEnvelope: any Decodable.Type,
        operations: [OperationDescription]
    ) {
        self.title = title
        self.version = version
        self.server = server
        self.errorEnvelope = JSONSchema(probing: errorEnvelope).named("Error")
        self.operations = operations
    }

    /// - Throws: `OpenAPIError` where two operations can't be told apart.
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

    /// Types that could be probed only in part, each with the reason; empty when every schema is whole.
    var gaps: [String] {
        let schemas = operations.flatMap { operation in
            [operation.body].compactMap { $0 } + operation.answers.compactMap(\.schema)
        }
        return Set((schemas + [errorEnvelope]).flatMap(\.gaps)).sorted()
    }

    /// In the order in which the operations first name them.
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

/// Why there is no document: a fault of the declarations, never of a request.
enum OpenAPIError: Error, Equatable {
    /// Two operations have, or come to, the same `operationId`.
    case sameIdentifier(String)
}

/// Gathers the named schemas while the operations are written.
final class ComponentSchemas {
    private(set) var written: [String: JSONValue] = [:]
    private var names: [SchemaName: String] = [:]
    private var taken: Set<String> = []

    func json(of schema: JSONSchema) -> JSONValue {
        if let reference = schema.reference { return refer(to: name(of: reference)) }
        guard let name = schema.name else { return schema.json(nesting: json(of:)) }
        let isNew = names[name] == nil
        let component = self.name(of: name)
        if isNew {
            written[component] = schema.json(nesting: json(of:))
        }
        return refer(to: component)
    }

    private func refer(to component: String) -> JSONValue {
        .object(["$ref": .string("#/components/schemas/\(component)")])
    }

    /// The short name; where two types share it, the later one gets a number.
    private func name(of name: SchemaName) -> String {
        if let known = names[name] { return known }
        var component = name.short
        var number = 2
        while !taken.insert(component).inserted {
            component = "\(name.short)\(number)"
            number += 1
        }
        names[name] = component
        return component
    }
}

extension JSONSchema {
    /// Why this schema, and those in it, are not whole.
    fileprivate var gaps: [String] {
        let nested = Array(properties.values) + anyOf + [items, additionalProperties].compactMap { $0 }
        return [gap].compactMap { $0 } + nested.flatMap(\.gaps)
    }
}
