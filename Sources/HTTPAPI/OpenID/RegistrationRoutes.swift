internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// The endpoints at which clients register themselves (RFC 7591, 7592), for one of the issuers that applications have.
struct RegistrationRoutes {
    let operations: RegistrationOperations
    let place: Issuer.Place

    var endpoints: [Endpoint] {
        [
            operations.register.at(
                .post, .registration, of: place, "Registers a client, or an installation of an app",
                takes: .registration(.json) { request in
                    ClientRegistrationRequest(request, members: try request.decode(ClientMetadataBody.self).members)
                }, returns: .registration(status: .created)),
            operations.read.at(
                .get, .registration, of: place, below: "/{client}", "What is registered of a client",
                takes: .registration { ClientRegistrationRequest($0) }, returns: .registration()),
            operations.delete.at(
                .delete, .registration, of: place, below: "/{client}", "Deletes a registered client",
                takes: .registration { ClientRegistrationRequest($0) }, returns: .registration(status: .noContent)),
            operations.update.at(
                .put, .registration, of: place, below: "/{client}",
                "Always refused: a registered client cannot be changed",
                takes: .registration { ClientRegistrationRequest($0) }, returns: .registration(status: nil)),
        ]
    }
}

/// A request to a registration endpoint.
struct ClientRegistrationRequest: Sendable {
    /// The client's id; empty where one is registered.
    let client: String
    /// The initial or the registration access token, if one was sent.
    let token: String?
    let members: [String: JSONValue]

    fileprivate init(_ request: IncomingRequest, members: [String: JSONValue] = [:]) {
        client = request["client"].removingPercentEncoding ?? ""
        token = request.request.headers[.authorization].flatMap(EndpointResponder.bearer)
        self.members = members
    }
}

extension RequestShape<ClientRegistrationRequest> {
    fileprivate static func registration(
        _ form: RequestBody.Form? = nil,
        _ read: @escaping @Sendable (IncomingRequest) throws -> ClientRegistrationRequest
    ) -> Self {
        var taken = TakenRequest(body: form.map { _ in ClientMetadataBody.self }, form: form)
        (taken.isOfOpenID, taken.origins) = (true, .none)
        taken.isServed = { $0.settings.takesRegistrations }
        return Self(taken: taken, read: read)
    }
}

extension ResponseShape<[String: JSONValue]?> {
    /// Responds with a JSON object, or without a body, and with errors in the form of RFC 6749; `status` is `nil` if
    /// every call is refused.
    fileprivate static func registration(status: HTTPResponse.Status? = .ok) -> Self {
        let success = status.map {
            ReturnedResponse(status: $0, contentType: $0 == .noContent ? nil : "application/json")
        }
        let status = status ?? .noContent
        return Self(
            responses: [success].compactMap(\.self) + .oauthErrors.filter { $0.status != .forbidden },
            writesError: { error, request, context in
                var response = Response.oauthError(error, request, context)
                // RFC 6750, 3: without a token the challenge has no error.
                if response?.status == .unauthorized, request.headers[.authorization] == nil {
                    response?.headers[.wwwAuthenticate] = "Bearer"
                }
                return response
            },
            write: { members, _ in
                members.map { .oauth($0, status: status) } ?? Response(status: status)
            })
    }
}

/// The metadata of a client (RFC 7591, 2), of which `ClientRegistration` checks each member.
struct ClientMetadataBody: RequestPayload {
    let members: [String: JSONValue]

    /// `init(from:)` reads all members; `schema` describes them.
    static let fields = RequestFields { Self(members: [:]) }

    private init(members: [String: JSONValue]) { self.members = members }

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: JSONValue].self)
    }

    static var schema: JSONSchema {
        func all(_ names: [String], _ schema: JSONSchema) -> [(String, JSONSchema)] { names.map { ($0, schema) } }
        let texts = all(
            [
                "software_id", "software_statement", "device_type", "device_name", "client_name", "client_uri",
                "logo_uri", "policy_uri", "tos_uri", "scope", "token_endpoint_auth_method",
                "token_endpoint_auth_signing_alg", "jwks_uri", "subject_type", "id_token_signed_response_alg",
                "application_type", "backchannel_logout_uri",
            ], .string)
        let lists = all(
            ["redirect_uris", "grant_types", "response_types", "default_acr_values", "post_logout_redirect_uris"],
            .array(of: .string))
        let flags = all(["require_auth_time", "backchannel_logout_session_required"], JSONSchema(.boolean))
        let others = [("jwks", JSONSchema(.object)), ("default_max_age", Int.schema)]
        return .object(Dictionary(uniqueKeysWithValues: texts + lists + flags + others))
    }
}
