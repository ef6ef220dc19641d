internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import OpenID
internal import ProviderKit

/// The parts of a request that an input can be read from.
struct IncomingRequest: Sendable {
    let request: Request
    let context: APIRequestContext
    let body: ByteBuffer

    /// A parameter of the path.
    subscript(name: String) -> String { context.parameters.get(name) ?? "" }

    /// The path parameter `uid`.
    /// - Throws: 404 unless the parameter is a UUID.
    var accountUID: UUID {
        get throws {
            guard let uid = context.parameters.get("uid", as: UUID.self) else {
                throw APIError(.accountNotFound, "There is no such account")
            }
            return uid
        }
    }

    /// The fields of the query, or of a form in the body.
    func fields() throws -> FormFields {
        try request.method == .post ? FormFields(form) : query
    }

    /// The fields of the query, also where a form is in the body.
    var query: FormFields {
        get throws { try FormFields(request.uri.query ?? "") }
    }

    /// The text of a form in the body.
    /// - Throws: 400 unless the body is UTF-8.
    var form: String {
        get throws {
            guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
                throw FormFields.malformed
            }
            return text
        }
    }

    /// The parts of the request that a provider may use besides the credential.
    var origin: RequestOrigin {
        RequestOrigin(peer: context.peer?.description) { [headers = request.headers] name in
            HTTPField.Name(name).map { headers[values: $0] } ?? []
        }
    }

    func cookie(_ name: String) -> String? { request.cookie(name) }
}

extension Request {
    func cookie(_ name: String) -> String? {
        for pair in headers[values: .cookie].flatMap({ $0.utf8.split(separator: UInt8(ascii: ";")) }) {
            let pair = pair.drop { $0 == UInt8(ascii: " ") }
            let ownName = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = pair[ownName.endIndex...].dropFirst()
            if !value.isEmpty, ownName.elementsEqual(name.utf8) { return String(Substring(value)) }
        }
        return nil
    }
}

extension IncomingRequest: CredentialDecoding {
    func decode<Value: RequestPayload>(_ type: Value.Type = Value.self) throws -> Value {
        try RequestBody.decode(type, from: body)
    }
}

/// The kind of request that a route accepts, for its documentation and for the checks of size, type and origin.
struct TakenRequest: Sendable {
    var body: (any RequestPayload.Type)?
    /// The fields of the query or of the form.
    var parameters: [OperationDescription.Parameter] = []
    /// Fields of the header that the route reads, for its documentation.
    var headers: [OperationDescription.Parameter] = []
    /// `nil` if the body is ignored.
    var form: RequestBody.Form?
    /// Whether pages of other origins may send browsers here, also by a form, so that the rules for origins and JSON do
    /// not apply.
    var isForBrowsers = false
    /// Whether a proxy calls the route with the header fields of a request to the app's back end, so that `Origin` is the
    /// concern of the back end, and the token is where a client of any of the application's dialects may have it.
    var isSubrequest = false
    /// Whether the route belongs to the OpenID provider, so that an application without one does not have it.
    var isOfOpenID = false
    /// The issuer that the route is an endpoint of; an application that has no such issuer does not have the route.
    var place = Issuer.Place.plain
    /// Whether a provider has the route, which may depend on its settings.
    var isServed: @Sendable (Issuer) -> Bool = { _ in true }
    /// Whether the route reads cookies of the OpenID issuer's host, so that it is served at the issuer's origin only.
    var isAtIssuer = false
    /// Whether the route belongs to the admin API, so that a server without one does not have it.
    var isOfAdministration = false
    /// Whether the route belongs to the console, so that a server without one does not have it.
    var isOfConsole = false
    /// The pages whose scripts may call the route.
    var origins = OriginRule.Callers.listed
}

/// How a route reads the input of an operation from a request.
struct RequestShape<Input: Sendable>: Sendable {
    var taken = TakenRequest()
    let read: @Sendable (IncomingRequest) throws -> Input

    /// Decodes a JSON body of the type, which is also its documentation; `make` converts it to the input.
    static func json<Body: RequestPayload>(
        _ type: Body.Type, _ make: @escaping @Sendable (Body, IncomingRequest) throws -> Input
    ) -> Self { Self(taken: TakenRequest(body: type, form: .json)) { try make($0.decode(type), $0) } }

    /// Lets `read` decode a JSON body, which is documented as the type `documented`.
    static func json(
        documented: any RequestPayload.Type, _ read: @escaping @Sendable (IncomingRequest) throws -> Input
    ) -> Self { Self(taken: TakenRequest(body: documented, form: .json), read: read) }

    /// Reads the query of a GET or the form of a POST from a browser that another site sends here.
    static func browser(
        _ method: HTTPRequest.Method, _ parameters: [OperationDescription.Parameter] = [],
        _ read: @escaping @Sendable (IncomingRequest) throws -> Input
    ) -> Self {
        let form: RequestBody.Form? = method == .get ? nil : .form
        return Self(taken: TakenRequest(parameters: parameters, form: form, isForBrowsers: true), read: read)
    }

    /// Works as `browser`, at the origin of the OpenID issuer only.
    static func issuer(
        _ method: HTTPRequest.Method, _ parameters: [OperationDescription.Parameter] = [],
        _ read: @escaping @Sendable (IncomingRequest) throws -> Input
    ) -> Self {
        var shape = browser(method, parameters, read)
        (shape.taken.isOfOpenID, shape.taken.isAtIssuer, shape.taken.origins) = (true, true, .none)
        return shape
    }
}

extension RequestShape {
    /// The same for an endpoint of one of the application's issuers.
    func at(_ place: Issuer.Place) -> Self {
        var shape = self
        (shape.taken.isOfOpenID, shape.taken.place) = (true, place)
        return shape
    }
}

extension RequestShape where Input: RequestPayload {
    /// Decodes the input itself from a JSON body.
    static var json: Self { .json(Input.self) { input, _ in input } }
}

extension RequestShape<Void> {
    static var nothing: Self { Self { _ in () } }
    /// Reads nothing but the credentials, from a proxy's sub-request; no page may call the route.
    static var subrequest: Self { Self(taken: TakenRequest(isSubrequest: true, origins: .none)) { _ in () } }
}

extension RequestShape {
    /// Decodes a JSON body, and reads the path parameter `name`.
    static func named<Body: RequestPayload>(
        _ type: Body.Type, by name: String = "id"
    ) -> Self where Input == (name: String, body: Body) {
        .json(type) { body, request in (request[name], body) }
    }

    /// Decodes a JSON body, and reads the path parameter `uid`.
    static func account<Body: RequestPayload>(_ type: Body.Type) -> Self where Input == (uid: UUID, body: Body) {
        .json(type) { body, request in (try request.accountUID, body) }
    }
}

extension RequestShape<UUID> {
    /// Reads a UUID from a path parameter; throws `error` if the parameter is not a UUID.
    static func id(_ name: String, orElse error: AccountsError) -> Self {
        Self { request in
            guard let id = request.context.parameters.get(name, as: UUID.self) else { throw error }
            return id
        }
    }
}
