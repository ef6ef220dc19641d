internal import Accounts
internal import HTTPTypes
internal import Hummingbird
package import OpenID
internal import Pages
internal import ProviderKit

/// The phone's side of sign-ins by QR code.
struct QRRoutes {
    let operations: QROperations

    private static let path = "/auth/qr/{code}"

    var endpoints: [Endpoint] {
        [
            operations.look.at(
                .get, Self.path, "Who asks to be signed in by a QR code, and from where",
                takes: RequestShape { $0["code"] }.at(.plain), returns: .json, answersHEAD: false),
            operations.confirm.at(
                .post, Self.path + "/confirm", "Signs the browser in that shows the code",
                takes: .answer(QRConfirmation.self), returns: .empty()),
            operations.refuse.at(
                .post, Self.path + "/refuse", "Refuses to sign the browser in",
                takes: .answer(QRRefusalBody.self), returns: .empty()),
            operations.open.at(
                .get, below: "", "/qr", "Says which app scans the code that has led here",
                takes: .issuer(.get, [.init("code", help: "The code, which a browser cannot answer.")]) { _ in () },
                returns: .qrOpen, answersHEAD: false),
        ]
    }
}

extension RequestShape {
    /// Reads a code from the path, and the answer to it from a JSON body.
    fileprivate static func answer<Body: RequestPayload>(_ type: Body.Type) -> Self
    where Input == (code: String, body: Body) {
        .json(type) { ($1["code"], $0) }.at(.plain)
    }
}

extension ResponseShape<Issuer> {
    /// The page in the browser of a phone that has opened a code.
    static var qrOpen: Self {
        Self(responses: [.page] + .stepErrors, writesError: Response.stepError) { issuer, context in
            let links = StepPage.AppLink.Platform.allCases.compactMap { platform in
                issuer.settings.qr.appLinks[platform.rawValue].map { StepPage.AppLink(platform, url: $0) }
            }
            return .step(.qrOpen(links), context: context)
        }
    }
}

// MARK: - Payloads

extension QRDetails: ResponsePayload {
    package static let fields = ResponseFields<Self>("QRSignIn") {
        Field("code", \.code)
        Field("client") { Client(id: $0.clientID, name: $0.clientName) }
        Field("browser", orNull: \.browser)
        Field("os", orNull: \.os)
        Field("device", orNull: \.device)
        Field("deviceType", as: .choice(of: UserAgent.DeviceType.self), \.deviceType.rawValue)
        Field("address", \.address)
        Field("place", orNull: \.place)
        Field("sameNetwork", \.isSameNetwork)
        Field("numberRequired", \.isNumberRequired)
        Field("expiresAt", \.expiresAt)
    }

    private struct Client: ResponsePayload {
        let id: String?
        let name: String

        static let fields = ResponseFields<Self>("QRSignInClient") {
            // Null for the server's own pages.
            Field("id", orNull: \.id)
            Field("name", \.name)
        }
    }
}

extension GeoPlace: ResponsePayload {
    package static let fields = ResponseFields<Self>("Place") {
        Field("city", orNull: \.city)
        Field("region", orNull: \.region)
        Field("country", orNull: \.country)
        Field("latitude", as: JSONSchema(.number), orNull: { $0.latitude.map { JSONValue.number($0) } })
        Field("longitude", as: JSONSchema(.number), orNull: { $0.longitude.map { JSONValue.number($0) } })
        // In kilometres.
        Field("radius", orNull: \.radius)
    }
}

/// The response to the script of the page with a code.
extension ShownQRCode: ResponsePayload {
    package static let fields = ResponseFields<Self>("QRCodeState") {
        Field("state", as: .choice(of: HandoffState.self), \.state.rawValue)
        Field("number", ifAny: { $0.state == .scanned ? $0.number : nil })
    }
}

// MARK: - The page with a code

extension StepPage.QR {
    /// A code that is no longer stored has expired.
    init(_ step: ShownStep, asking asksToRemember: Bool) {
        guard let (code, url) = step.qrCode, let state = State(rawValue: code.state.rawValue) else {
            self.init(.expired, url: "")
            return
        }
        self.init(state, url: url)
        (number, isNumberShown, self.asksToRemember) = (code.number, code.isNumberShown, asksToRemember)
        guard let uid = code.account else { return }
        account = StepPage.Account(id: uid.text, name: code.name, address: code.address, isSignedIn: false)
        let former = step.accounts.first { $0.session.uid == uid }
        (isKnown, isRemembered) = (former != nil, step.remembers ?? former?.isRemembered ?? false)
    }
}
