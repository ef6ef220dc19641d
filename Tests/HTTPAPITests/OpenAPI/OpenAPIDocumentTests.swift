import Foundation
import HTTPTypes
import ProviderKit
import Testing

@testable import HTTPAPI

@Suite("OpenAPI document")
struct OpenAPIDocumentTests {
    static let operations = [
        OperationDescription(
            method: "POST", path: "/api/v1/auth/email/otp/verify", summary: "Signs in", tag: "sign-in", access: .open,
            request: TakenRequest(body: Sample.Body.self, form: .json),
            responses: [.init(body: Sample.Outer.self, description: "A session")],
            errors: [.invalidToken, .invalidCredentials, .invalidToken, .rateLimited]),
        OperationDescription(
            method: "DELETE", path: "/api/v1/auth/sessions/{id}", summary: "Ends one", tag: "sessions",
            access: .bearer, responses: [.init(status: .noContent, description: "Ended")]),
        OperationDescription(
            method: "PATCH", path: "/api/v1/auth/me", summary: "Changes", tag: "sessions", access: .recent,
            request: TakenRequest(body: Sample.Changes.self, form: .json),
            responses: [.init(body: Sample.Inner.self, description: "The rest")]),
        OperationDescription(
            method: "GET", path: "/api/v1/auth/oauth/{provider}/authorize", summary: "Begins", tag: "sign-in",
            access: .open,
            request: TakenRequest(parameters: [
                .init("redirect_uri", required: true, help: "Where to."),
                .init("mode", help: "How.", schema: .enumeration(["redirect", "json"])),
            ]),
            responses: [
                .init(status: .found, description: "To the provider", headers: ["Location": "The provider."])
            ]),
        OperationDescription(
            method: "GET", path: "/metrics", summary: "Figures", tag: "operations", access: .open,
            responses: [.init(description: "Text", contentType: "text/plain")]),
    ]

    static func document(_ operations: [OperationDescription] = operations) -> OpenAPIDocument {
        OpenAPIDocument(
            title: "Gatehouse", version: "1", server: "https://auth.example", errorEnvelope: ErrorPayload.schema,
            operations: operations)
    }

    private func document() throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(try Self.document().json()))
    }

    @Test("says what it is")
    func head() throws {
        let json = try document()
        #expect(json["openapi"] == .string("3.1.0"))
        #expect(json["servers", 0, "url"] == .string("https://auth.example"))
        #expect(json["components", "securitySchemes", "bearer", "scheme"] == .string("bearer"))
        #expect(json["tags"]?.elements.compactMap { $0["name"]?.string } == ["sign-in", "sessions", "operations"])
    }

    @Test("is the same bytes every time")
    func deterministic() throws {
        let first = try Self.document().json()
        for _ in 0..<10 {
            #expect(try Self.document().json() == first)
        }
    }

    @Test("every reference resolves")
    func references() throws {
        let json = try document()
        let known = json["components", "schemas"]?.members.keys.sorted() ?? []
        let references = json.everything.compactMap { $0["$ref"]?.string }
        #expect(!references.isEmpty)
        for reference in references {
            let name = try #require(reference.split(separator: "/").last)
            #expect(reference == "#/components/schemas/\(name)")
            #expect(known.contains(String(name)))
        }
        #expect(known == ["Error", "ErrorContent", "Inner", "JSON", "Outer"])
    }

    @Test("every parameter of a path is declared")
    func pathParameters() throws {
        for (path, item) in try document()["paths"]?.members ?? [:] {
            for operation in item.members.values {
                let declared = operation["parameters"]?.elements.filter { $0["in"] == .string("path") } ?? []
                let named = path.matches(of: /\{(\w+)\}/).map { String($0.output.1) }
                #expect(declared.compactMap { $0["name"]?.string } == named)
                #expect(declared.allSatisfy { $0["required"] == .bool(true) })
            }
        }
    }

    @Test("operations have identifiers of their own")
    func identifiers() throws {
        #expect(
            Self.operations.map(\.operationID) == [
                "postAuthEmailOtpVerify", "deleteAuthSessionsById", "patchAuthMe", "getAuthOauthByProviderAuthorize",
                "getMetrics",
            ])
        let twice = Self.document(Self.operations + Self.operations.prefix(1))
        #expect(throws: OpenAPIError.sameIdentifier("postAuthEmailOtpVerify")) { try twice.json() }
    }

    @Test("errors are grouped by status, each code once")
    func errors() throws {
        let responses = try document()["paths", "/api/v1/auth/email/otp/verify", "post", "responses"]
        #expect(responses?.members.keys.sorted() == ["200", "401", "429"])
        let schemas = responses?["401", "content", "application/json", "schema", "allOf"]
        #expect(schemas?[0, "$ref"] == .string("#/components/schemas/Error"))
        #expect(
            schemas?[1, "properties", "error", "properties", "code", "enum"]
                == .array([.string("INVALID_CREDENTIALS"), .string("INVALID_TOKEN")]))
        #expect(responses?["429", "headers", "Retry-After"] != nil)
        #expect(responses?["401", "headers"] == nil)
    }

    @Test("says who may call, and whether a body is needed")
    func access() throws {
        let paths = try document()["paths"]
        let bearer = JSONValue.array([.object(["bearer": .array([])])])
        #expect(paths["/metrics", "get", "security"] == .array([]))
        #expect(paths["/api/v1/auth/sessions/{id}", "delete", "security"] == bearer)
        #expect(paths["/api/v1/auth/me", "patch", "security"] == bearer)
        #expect(paths["/api/v1/auth/me", "patch", "description"] != nil)
        #expect(paths["/api/v1/auth/email/otp/verify", "post", "requestBody", "required"] == .bool(true))
        #expect(paths["/metrics", "get", "responses", "200", "content"] == .object(["text/plain": .object([:])]))
    }
}

/// The payloads of the test's operations.
private enum Sample {
    struct Body: RequestPayload {
        let name: String

        static let fields = RequestFields(Self.init, .init("name"))
    }

    struct Changes: RequestPayload {
        let anything: JSONValue?

        static let fields = RequestFields(Self.init, .init("anything"))
    }

    struct Inner: ResponsePayload {
        static let fields = ResponseFields<Self>("Inner") {
            Field("name") { _ in "x" }
        }
    }

    struct Outer: ResponsePayload {
        static let fields = ResponseFields<Self>("Outer") {
            Field("inner") { _ in Inner() }
            Field("inners") { _ in [Inner()] }
        }
    }
}
