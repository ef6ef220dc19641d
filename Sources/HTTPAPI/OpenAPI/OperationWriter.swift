internal import ProviderKit

/// Writes operations as OpenAPI's operation objects.
struct OperationWriter {
    let components: ComponentSchemas
    let errorEnvelope: JSONSchema

    func json(of operation: OperationDescription) -> JSONValue {
        var json: [String: JSONValue] = [
            "operationId": .string(operation.operationID),
            "summary": .string(operation.summary),
            "tags": .array([.string(operation.tag)]),
            "security": security(of: operation.access),
            "responses": .object(responses(of: operation)),
        ]
        if operation.access == .recent {
            json["description"] = .string("Needs a session that was authenticated not long ago.")
        }
        let parameters = operation.pathParameters.map(pathParameter) + operation.parameters.map(parameter)
        json["parameters"] = parameters.isEmpty ? nil : .array(parameters)
        json["requestBody"] = operation.body.map(requestBody)
        return .object(json)
    }

    /// An empty requirement among several makes the others optional (OpenAPI 3.1, 4.8.2).
    private func security(of access: OperationDescription.Access) -> JSONValue {
        let bearer: JSONValue = .object(["bearer": .array([])])
        return switch access {
        case .open: .array([])
        case .optionalBearer: .array([.object([:]), bearer])
        case .bearer, .recent: .array([bearer])
        }
    }

    /// An empty body is taken as `{}`, so it is needed only where a field is.
    private func requestBody(_ schema: JSONSchema) -> JSONValue {
        .object([
            "required": .bool(!schema.required.isEmpty),
            "content": content("application/json", components.json(of: schema)),
        ])
    }

    private func pathParameter(_ name: String) -> JSONValue {
        .object([
            "name": .string(name), "in": .string("path"), "required": .bool(true),
            "schema": components.json(of: .string),
        ])
    }

    private func parameter(_ parameter: OperationDescription.Parameter) -> JSONValue {
        .object([
            "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
            "required": .bool(parameter.isRequired), "description": .string(parameter.help),
            "schema": components.json(of: parameter.schema),
        ])
    }

    private func content(_ type: String, _ schema: JSONValue?) -> JSONValue {
        .object([type: .object(schema.map { ["schema": $0] } ?? [:])])
    }
}

// MARK: - Responses

extension OperationWriter {
    private func responses(of operation: OperationDescription) -> [String: JSONValue] {
        let errors = Dictionary(grouping: operation.errors, by: \.status).map { status, errors in
            (String(status), response(status: status, errors: errors))
        }
        let answers = Dictionary(grouping: operation.answers, by: \.status).map { status, answers in
            (String(status), response(answers))
        }
        return Dictionary(errors + answers) { _, answer in answer }
    }

    /// All answers of one status: what the request asks for decides which of them comes.
    private func response(_ answers: [OperationDescription.Answer]) -> JSONValue {
        var json: [String: JSONValue] = [
            "description": .string(answers.map(\.description).joined(separator: "; or "))
        ]
        let schemas = answers.compactMap { $0.schema.map(components.json(of:)) }
        let schema: JSONValue? = schemas.count > 1 ? .object(["anyOf": .array(schemas)]) : schemas.first
        json["content"] = answers.lazy.compactMap(\.contentType).first.map { content($0, schema) }
        json["headers"] = headers(answers.reduce(into: [:]) { $0.merge($1.headers) { first, _ in first } })
        return .object(json)
    }

    /// All errors of one status: the envelope, with the codes that this operation puts into it.
    private func response(status: Int, errors: [OperationDescription.ErrorDescription]) -> JSONValue {
        let codes = Set(errors.map(\.code)).sorted()
        var code = JSONSchema.object(["code": .enumeration(codes)], required: [])
        code.properties["details"] = details(of: errors)
        let envelope = JSONValue.object([
            "allOf": .array([
                components.json(of: errorEnvelope),
                components.json(of: .object(["error": code], required: [])),
            ])
        ])
        var json: [String: JSONValue] = [
            "description": .string(codes.map { "`\($0)`" }.joined(separator: ", ")),
            "content": content("application/json", envelope),
        ]
        if status == 429 || status == 503 {
            json["headers"] = headers(["Retry-After": "Seconds to wait before trying again."])
        }
        return .object(json)
    }

    /// `nil` where no error has details.
    private func details(of errors: [OperationDescription.ErrorDescription]) -> JSONSchema? {
        let names = Set(errors.flatMap(\.details))
        guard !names.isEmpty else { return nil }
        let members = names.map { name in
            var member: JSONSchema = ["remedies", "reasons"].contains(name) ? .array(of: .string) : .string
            if name == "purgeAfter" { member.format = "date-time" }
            let codes = Set(errors.filter { $0.details.contains(name) }.map(\.code)).sorted()
            member.description = "Of " + codes.map { "`\($0)`" }.joined(separator: ", ") + "."
            return (name, member)
        }
        return .object(Dictionary(uniqueKeysWithValues: members), required: [])
    }

    private func headers(_ help: [String: String]) -> JSONValue? {
        guard !help.isEmpty else { return nil }
        return .object(
            help.mapValues { .object(["description": .string($0), "schema": components.json(of: .string)]) })
    }
}
