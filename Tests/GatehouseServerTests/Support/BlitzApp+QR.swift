import Foundation
import NIOHTTP1
import ProviderKit

/// Login to the application using a QR code.
extension BlitzApp {
    /// The data about a login request, all of which the page shows as texts.
    struct LoginDetails: Decodable, Equatable, Sendable {
        let ip, rpName, ipCity, browser, ipState, os, ipLng, deviceType, ipLat, ipCountry, rpId, deviceName: String
        let ipRadius, device: String
    }

    enum Decision: Sendable {
        case confirm
        case refuse(cause: String, comment: String?)
    }

    /// The `code` of the link in the QR code; the rest of the link is ignored, as the page says.
    static func code(inLink link: String) -> String? { URLComponents(string: link)?.query("code") }

    func look(at code: String, _ accessToken: String?, language: String = "en") async throws -> Answer {
        guard let accessToken else { return try await send(.GET, address(of: code), ["Accept-Language": language]) }
        return try await send(
            .GET, address(of: code), ["Accept-Language": language, "Authorization": "Bearer \(accessToken)"])
    }

    func answer(_ code: String, _ decision: Decision, _ accessToken: String?) async throws -> Answer {
        let call: String
        var body: String?
        switch decision {
        case .confirm: call = "confirm"
        case .refuse(let cause, let comment):
            var members: [String: JSONValue] = ["cause_id": .string(cause)]
            members["desc"] = comment.map { .string($0) }
            call = "refuse"
            body = String(decoding: try JSONEncoder().encode(JSONValue.object(members)), as: UTF8.self)
        }
        let url = "\(address(of: code))/\(call)"
        guard let accessToken else {
            return try await send(.POST, url, ["Content-Type": "application/json"], body: body)
        }
        return try await send(
            .POST, url, ["Content-Type": "application/json", "Authorization": "Bearer \(accessToken)"], body: body)
    }

    private func address(of code: String) -> String { "\(host)/blitz/api/v3/auth/qr/\(code)" }
}
