import ProviderKit

/// A request with a JSON body as `/openapi.json` describes it, written with one text replaced.
struct DocumentedBody {
    let method: String
    let path: String
    private let schema: JSONValue
    private let document: JSONValue

    /// All of the document's, but for those of the provider that only tests have.
    static func all(in document: JSONValue) -> [DocumentedBody] {
        (document["paths"].object ?? [:]).filter { !$0.key.contains("/scripted") }.flatMap { path, methods in
            (methods.object ?? [:]).compactMap { method, operation in
                let schema = operation["requestBody"]["content"]["application/json"]["schema"]
                guard !schema.isNull else { return nil }
                return DocumentedBody(method: method.uppercased(), path: path, schema: schema, document: document)
            }
        }
    }

    /// The names that lead to each text, and to each value of any kind.
    var texts: [[String]] { texts(in: schema) }

    /// The body with a JSON literal at that place, and every other member that it can have.
    func json(with literal: String, at place: [String]) -> String { json(of: schema, literal, at: place[...]) }

    /// The body with a further member, at the top and in each object inside.
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
            // A password is hashed, which has its own cost.
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

    /// With these a request gets beyond the first check of its fields.
    private static let likely = [
        "email": "jo@example.com", "password": "correct horse battery", "newPassword": "correct horse battery",
        "phone": "+33612345678", "challengeId": "01890000-0000-7000-8000-000000000000", "code": "123456",
        "redirect_uri": "demo://oauth/callback", "code_challenge": String(repeating: "a", count: 43),
        "codeVerifier": String(repeating: "a", count: 43), "token": "x", "refreshToken": "x", "mergeToken": "x",
        "restoreToken": "x", "idToken": "x", "identityToken": "x", "proof": "{}", "payload": "{}",
    ]
}
