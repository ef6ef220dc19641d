import ProviderKit

/// A request with a JSON body according to `/openapi.json`, with one text replaced.
struct DocumentedBody {
    let method: String
    let path: String
    private let schema: JSONValue
    private let document: JSONValue

    /// Returns all requests of the document except those of `ScriptedProvider`.
    static func all(in document: JSONValue) -> [DocumentedBody] {
        (document["paths"].object ?? [:]).filter { !$0.key.contains("/scripted") }.flatMap { path, methods in
            (methods.object ?? [:]).compactMap { method, operation in
                let schema = operation["requestBody"]["content"]["application/json"]["schema"]
                guard !schema.isNull else { return nil }
                return DocumentedBody(method: method.uppercased(), path: path, schema: schema, document: document)
            }
        }
    }

    /// The paths to all texts, and to all values of any type, as lists of member names.
    var texts: [[String]] { texts(in: schema) }

    /// Returns the body with a JSON literal at this path and likely values for all other members.
    func json(with literal: String, at place: [String]) -> String { json(of: schema, literal, at: place[...]) }

    /// Returns bodies with an additional member, at the top and in each nested object.
    func json(naming name: String) -> [String] {
        let nested = (resolved(schema)["properties"].object ?? [:])
            .filter { !resolved($0.value)["properties"].isNull }
            .map { "{\"\($0.key)\":{\"\(name)\":1}}" }
        return ["{\"\(name)\":1}"] + nested
    }

    private func texts(in schema: JSONValue) -> [[String]] {
        let schema = resolved(schema)
        if let properties = schema["properties"].object {
            return properties.flatMap { name, schema in texts(in: schema).map { [name] + $0 } }
        }
        let types = schema["type"].array ?? [schema["type"]]
        return types.contains("string") || types == [.null] ? [[]] : []
    }

    private func json(of schema: JSONValue, _ literal: String, at place: ArraySlice<String>) -> String {
        guard let next = place.first else { return literal }
        let members = (resolved(schema)["properties"].object ?? [:]).compactMap { name, schema -> String? in
            guard name != next else { return "\"\(name)\":\(json(of: schema, literal, at: place.dropFirst()))" }
            // A password is left out, because hashing it would add to the measured cost.
            guard name != "password" || next == "email" || next == "displayName" else { return nil }
            return Self.likely[name].map { "\"\(name)\":\"\($0)\"" }
        }
        return "{\(members.joined(separator: ","))}"
    }

    private func resolved(_ schema: JSONValue) -> JSONValue {
        let schema = schema["anyOf"].array?.first { $0["type"] != "null" } ?? schema
        guard let name = schema["$ref"].string?.split(separator: "/").last else { return schema }
        return document["components"]["schemas"][String(name)]
    }

    /// Plausible values, with which a request passes the first check of its fields.
    private static let likely = [
        "email": "jo@example.com", "password": "correct horse battery", "newPassword": "correct horse battery",
        "phone": "+33612345678", "challengeId": "01890000-0000-7000-8000-000000000000", "code": "123456",
        "redirect_uri": "demo://oauth/callback", "code_challenge": String(repeating: "a", count: 43),
        "codeVerifier": String(repeating: "a", count: 43), "token": "x", "refreshToken": "x", "mergeToken": "x",
        "restoreToken": "x", "idToken": "x", "identityToken": "x", "proof": "{}", "payload": "{}",
    ]
}
