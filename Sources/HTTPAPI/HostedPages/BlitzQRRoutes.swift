internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import OpenID
internal import ProviderKit

/// The phone's side of sign-ins by QR code, as apps for Blitz Identity Provider know it.
///
/// These apps have no field for the number that the page shows. They show it in the device's name instead, and the
/// person compares it.
struct BlitzQRRoutes {
    let operations: QROperations

    private static let path = "/api/v3/auth/qr/{code}"

    var endpoints: [Endpoint] {
        let place = Issuer.Place.blitz
        return [
            operations.look.at(
                .get, below: place.base, Self.path, "Who asks to be signed in by a QR code, for apps of Blitz",
                takes: RequestShape { $0["code"] }.at(place), returns: .blitz(.getting, BlitzQRDetails.init),
                answersHEAD: false),
            operations.confirm.at(
                .post, below: place.base, Self.path + "/confirm", "Signs the browser in, for apps of Blitz",
                takes: RequestShape { ($0["code"], QRConfirmation(number: nil)) }.at(place),
                returns: .blitz(.confirming)),
            operations.refuse.at(
                .post, below: place.base, Self.path + "/refuse", "Refuses to sign the browser in, for apps of Blitz",
                takes: .json(BlitzQRRefusal.self) { body, request in
                    // The person's words are kept nowhere, so their length does not matter.
                    (request["code"], QRRefusalBody(cause: body.cause, comment: nil))
                }.at(place), returns: .blitz(.refusing)),
            operations.open.at(
                .get, below: place.base, "/login/qr", "Says which app scans the code that has led here",
                takes: .issuer(.get, [.init("code", help: "The code, which a browser cannot answer.")]) { _ in () }
                    .at(place), returns: .qrOpen, answersHEAD: false),
        ]
    }
}

/// What an app of Blitz learns about a sign-in; every member is a text, also one that is not known.
struct BlitzQRDetails: ResponsePayload {
    let details: QRDetails

    init(_ details: QRDetails) { self.details = details }

    static let fields = ResponseFields<Self>("BlitzQRSignIn") {
        Field("ip", \.details.address)
        Field("rp_name", \.details.clientName)
        Field("ip_city") { $0.details.place?.city ?? "" }
        Field("browser") { $0.details.browser ?? "" }
        Field("ip_state") { $0.details.place?.region ?? "" }
        Field("os") { $0.details.os ?? "" }
        Field("ip_lng") { $0.details.place?.longitude.map { "\($0)" } ?? "" }
        Field("device_type", \.details.deviceType.rawValue)
        Field("ip_lat") { $0.details.place?.latitude.map { "\($0)" } ?? "" }
        Field("ip_country") { $0.details.place?.country ?? "" }
        // The pages of the account are a client at Blitz.
        Field("rp_id") { $0.details.clientID ?? "_blitz_profile" }
        Field("device_name", \.deviceName)
        Field("ip_radius") { $0.details.place?.radius.map { "\($0)" } ?? "" }
        Field("device") { $0.details.device ?? "" }
    }

    /// The device, and the number that the person compares with the page.
    private var deviceName: String {
        [details.deviceName, details.number.map { "\($0)" } ?? ""].filter { !$0.isEmpty }.joined(separator: " · ")
    }
}

struct BlitzQRRefusal: RequestPayload {
    let cause: QRRefusal
    let comment: String?

    static let fields = RequestFields(Self.init, .init("cause_id"), .init("desc"))
}

// MARK: - Errors

/// A call, as its errors name it.
private enum BlitzQRCall: String, Sendable { case getting, confirming, refusing }

extension ResponseShape {
    /// Responds with JSON, and with errors in the words of Blitz.
    fileprivate static func blitz<Body: ResponsePayload>(
        _ call: BlitzQRCall, _ make: @escaping @Sendable (Output) -> Body
    ) -> Self {
        Self(responses: [.init(body: Body.self)] + .blitzErrors, writesError: call.writeError) { output, _ in
            .json(make(output))
        }
    }
}

extension ResponseShape<Void> {
    fileprivate static func blitz(_ call: BlitzQRCall) -> Self {
        Self(responses: [.init(status: .noContent)] + .blitzErrors, writesError: call.writeError) { _, _ in
            Response(status: .noContent)
        }
    }
}

extension [ReturnedResponse] {
    /// The errors for their documentation; those that Blitz does not have are in the API's form.
    fileprivate static let blitzErrors =
        [.unauthorized, .forbidden, .notFound, .conflict, .gone].map { status in
            ReturnedResponse(
                status: status, description: "An error in the words of Blitz", contentType: "application/json")
        }
        + [
            .badRequest, .contentTooLarge, .unsupportedMediaType, .tooManyRequests, .internalServerError,
            .serviceUnavailable,
        ].map { ReturnedResponse(status: $0, body: ErrorPayload.self, description: "An error") }
}

extension BlitzQRCall {
    /// Writes an error byte for byte as apps know it; `nil` for one that Blitz does not have.
    var writeError: ErrorWriter {
        { error, _, _ in
            guard let error = error as? AccountsError else {
                // The API's own error if no access token was sent.
                guard (error as? APIError)?.code == .invalidToken else { return nil }
                return Self.security("bad_access_token", "invalid_access_token", status: .unauthorized)
            }
            switch error {
            case .expiredToken:
                return Self.security("bad_access_token", "expired_access_token", status: .unauthorized)
            case .invalidToken:
                return Self.security("bad_access_token", "invalid_access_token", status: .unauthorized)
            case .insufficientScope:
                return Self.security("insufficient_scope", "blitz_qr_auth", status: .forbidden)
            case .qrNotFound:
                let text = #"{"params":{},"desc":"\#(description)","error":"qr_session_not_found"}"#
                return .json(written: ByteBuffer(string: text), status: .notFound)
            case .qrExpired: return process("qr_session_expired", status: .gone)
            // Blitz says this of all three calls.
            case .qrCompleted: return Self.getting.process("qr_session_already_completed", status: .conflict)
            default: return nil
            }
        }
    }

    private var description: String { "Error while \(rawValue) QR authentication session" }

    private func process(_ error: String, status: HTTPResponse.Status) -> Response {
        let text = #"{"type":"process_error","error":"\#(error)","desc":"\#(description)"}"#
        return .json(written: ByteBuffer(string: text), status: status)
    }

    private static func security(_ error: String, _ description: String, status: HTTPResponse.Status) -> Response {
        let text = #"{"type":"security_error","error":"\#(error)","desc":"\#(description)"}"#
        let headers: HTTPFields = status == .unauthorized ? [.wwwAuthenticate: "Bearer"] : [:]
        return .json(written: ByteBuffer(string: text), status: status, headers: headers)
    }
}
