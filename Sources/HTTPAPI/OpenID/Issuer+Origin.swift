internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

extension Issuer {
    /// The answer to a browser that has come to another origin than the issuer's, where its cookies are not sent.
    ///
    /// A GET is sent to the same path and query of the issuer; a form would lose its fields, and is refused.
    func answerElsewhere(to request: Request, in scope: RequestScope) -> Response? {
        guard !origin.hasSameBytes(as: Self.origin(of: request, in: scope)) else { return nil }
        guard request.method != .post else {
            return .step(
                .error(reason: "invalid_request", url: nil), status: .badRequest, to: request, of: scope.application)
        }
        return .seeOther(application.issuer + (request.head.path ?? "/"))
    }

    /// The origin of the issuer's pages, as browsers send it.
    var origin: String { Self.origin(of: application.issuer) }

    /// The origin that the browser has sent the request to.
    static func origin(of request: Request, in scope: RequestScope) -> String {
        origin(of: "\(scope.forwarding.isSecure ? "https" : "http")://\(request.head.authority ?? "")")
    }

    /// Scheme, host and port in the form of browsers, which leave out a scheme's default port.
    package static func origin(of url: String) -> String {
        let start = url.range(of: "://")?.upperBound ?? url.startIndex
        let origin = url[..<(url[start...].firstIndex(of: "/") ?? url.endIndex)].lowercased()
        for (scheme, port) in [("https:", ":443"), ("http:", ":80")]
        where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
            return String(origin.dropLast(port.count))
        }
        return origin
    }
}
