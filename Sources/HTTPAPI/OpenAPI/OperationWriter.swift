internal import Administration
internal import HTTPTypes
internal import ProviderKit

/// Writes operations as OpenAPI's operation objects.
struct OperationWriter {
    let components: ComponentSchemas
    let errorEnvelope: JSONSchema
    let namesErrorCodes: Bool
    let securitySchemes: [SecurityScheme]

    func json(of operation: OperationDescription) -> JSONValue {
        var json: [String: JSONValue] = [
            "operationId": .string(operation.operationID),
            "summary": .string(operation.summary),
            "tags": .array([.string(operation.tag)]),
            "security": security(of: operation.access),
            "responses": .object(responses(of: operation)),
        ]
        if operation.access.needsRecency != nil {
            json["description"] = .string("Needs a session that was authenticated not long ago.")
        } else if case .administrator(let scope?) = operation.access {
            json["description"] = .string("Needs the scope `\(scope.rawValue)`.")
        }
        let request = operation.request
        let query = request.form == .form ? [] : request.parameters
        let parameters =
            operation.pathParameters.map(pathParameter) + query.map { parameter($0, in: "query") }
            + request.headers.map { parameter($0, in: "header") }
        json["parameters"] = parameters.isEmpty ? nil : .array(parameters)
        if request.form == .form, !request.parameters.isEmpty {
            json["requestBody"] = requestBody(.form(request.parameters), as: .form)
        } else {
            json["requestBody"] = request.body.map { requestBody($0.schema.sent, as: .json) }
        }
        return .object(json)
    }

    /// The security requirements, of which a request has to meet one; an empty one makes the credential optional
    /// (OpenAPI 3.1, 4.8.2).
    private func security(of access: Access) -> JSONValue {
        // A list of scopes is only for OAuth; the description names the one that an administrator needs.
        let alternatives = securitySchemes.map { JSONValue.object([$0.name: .array([])]) }
        return switch access {
        case .open: .array([])
        case .optionalBearer: .array([.object([:])] + alternatives)
        case .bearer, .formerBearer, .recent, .recentToDelete, .scanner, .administrator: .array(alternatives)
        }
    }

    /// The body, which is required only if one of its fields is, because the server reads an empty body as `{}`.
    private func requestBody(_ schema: JSONSchema, as form: RequestBody.Form) -> JSONValue {
        .object([
            "required": .bool(!schema.required.isEmpty),
            "content": .object([form.rawValue: mediaType([components.json(of: schema)])]),
        ])
    }

    private static let identifiers: Set = ["id", "receipt", "uid"]

    private func pathParameter(_ name: String) -> JSONValue {
        let schema = Self.identifiers.contains(name) ? .uuid : JSONSchema(.string, length: 1...Int.max)
        return .object([
            "name": .string(name), "in": .string("path"), "required": .bool(true),
            "schema": components.json(of: schema),
        ])
    }

    private func parameter(_ parameter: OperationDescription.Parameter, in place: String) -> JSONValue {
        .object([
            "name": .string(parameter.name), "in": .string(place), "required": .bool(parameter.isRequired),
            "description": .string(parameter.help), "schema": components.json(of: parameter.schema),
        ])
    }
}

// MARK: - Responses

extension OperationWriter {
    private func responses(of operation: OperationDescription) -> [String: JSONValue] {
        let responses = Dictionary(grouping: operation.responses, by: \.status.code)
        let errors = Dictionary(grouping: operation.errors, by: operation.status)
        return Set(responses.keys).union(errors.keys).reduce(into: [:]) { written, status in
            written[String(status)] = response(
                status: status, responses: responses[status] ?? [], errors: errors[status] ?? [], of: operation)
        }
    }

    /// The description of all responses and errors with one status.
    private func response(
        status: Int, responses: [ReturnedResponse], errors: [ErrorCode], of operation: OperationDescription
    ) -> JSONValue {
        let codes = Set(errors.map(\.rawValue)).sorted()
        let words =
            responses.map { $0.description ?? operation.summary } + [codes.map { "`\($0)`" }.joined(separator: ", ")]
        var schemas: [String: [JSONValue]] = [:]
        for response in responses {
            if let body = response.body {
                schemas["application/json", default: []].append(components.json(of: body.schema))
            }
        }
        var help = responses.reduce(into: [:]) { $0.merge($1.headers) { first, _ in first } }
        if !errors.isEmpty {
            schemas["application/json", default: []].append(envelope(of: errors, codes: codes))
            if operation.request.isForBrowsers { schemas["text/html"] = [] }
            if status == 429 || status == 503 { help["Retry-After"] = "Seconds to wait before trying again." }
        }
        // A schema would refuse the other content that has the same type.
        for response in responses where response.body == nil {
            if let type = response.contentType { schemas[type] = [] }
        }
        var json: [String: JSONValue] = [
            "description": .string(words.filter { !$0.isEmpty }.joined(separator: "; or "))
        ]
        json["content"] = schemas.isEmpty ? nil : .object(schemas.mapValues(mediaType))
        json["headers"] = headers(help)
        return .object(json)
    }

    private func mediaType(_ schemas: [JSONValue]) -> JSONValue {
        guard let first = schemas.first else { return .object([:]) }
        return .object(["schema": schemas.count == 1 ? first : .object(["anyOf": .array(schemas)])])
    }

    /// The schema of an error's body, restricted to the codes of this operation.
    private func envelope(of errors: [ErrorCode], codes: [String]) -> JSONValue {
        guard namesErrorCodes else { return components.json(of: errorEnvelope) }
        var code = JSONSchema.object(["code": .enumeration(codes)], required: [])
        code.properties["details"] = details(of: errors)
        return .object([
            "allOf": .array([
                components.json(of: errorEnvelope), components.json(of: .object(["error": code], required: [])),
            ])
        ])
    }

    /// The schema of the errors' `details`; `nil` if none of the errors has any.
    private func details(of errors: [ErrorCode]) -> JSONSchema? {
        let names = Set(errors.flatMap(\.details))
        guard !names.isEmpty else { return nil }
        let members = names.map { name in
            var member = Self.schema(ofDetail: name)
            let codes = Set(errors.filter { $0.details.contains(name) }.map(\.rawValue)).sorted()
            member.description = "Present with " + codes.map { "`\($0)`" }.joined(separator: ", ") + "."
            return (name, member)
        }
        return .object(Dictionary(uniqueKeysWithValues: members), required: [])
    }

    private static func schema(ofDetail name: String) -> JSONSchema {
        switch name {
        case "remedies", "reasons": .array(of: .string)
        case "problems": .array(of: .object(["path": .string, "sentence": .string], required: ["path", "sentence"]))
        case "limit": JSONSchema(.integer)
        case "purgeAfter": JSONSchema(.string, format: "date-time")
        default: .string
        }
    }

    private func headers(_ help: [String: String]) -> JSONValue? {
        guard !help.isEmpty else { return nil }
        return .object(
            help.mapValues { .object(["description": .string($0), "schema": components.json(of: .string)]) })
    }
}

extension JSONSchema {
    fileprivate static func form(_ fields: [OperationDescription.Parameter]) -> JSONSchema {
        .object(
            Dictionary(
                uniqueKeysWithValues: fields.map { field in
                    var schema = field.schema
                    schema.description = field.help
                    return (field.name, schema)
                }),
            required: Set(fields.filter(\.isRequired).map(\.name)))
    }
}
