internal import Foundation
internal import ProviderKit

/// The URL of a webhook or a gateway, with its login.
struct HTTPEndpoint: Sendable, Equatable {
    /// The URL without user and password.
    let url: String
    /// The `Authorization` header (RFC 7617) if the URL has a user; otherwise empty.
    private let headers: [String: String]

    /// Parses a URL, whose user and password are percent-encoded.
    /// - Throws: `DeliveryError.invalidSetting`, which never repeats the URL.
    init(_ text: String, field: String) throws(DeliveryError) {
        func refusal(_ reason: String) -> DeliveryError { .invalidSetting(field: field, reason: reason) }
        guard var url = URLComponents(string: text), url.host?.isEmpty == false,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { throw refusal("is not an absolute http or https URL") }
        let login = url.user.map { "\($0):\(url.password ?? "")" }
        url.user = nil
        url.password = nil
        url.fragment = nil
        guard let address = url.string,
            ![address, login ?? ""].contains(where: { $0.unicodeScalars.contains { $0.value < 32 } })
        else { throw refusal("has a control character") }
        self.url = address
        headers = login.map { ["Authorization": "Basic \(Data($0.utf8).base64EncodedString())"] } ?? [:]
    }

    /// Creates a POST request with a JSON body; equal values give equal bytes.
    func post(json body: some Encodable) throws -> FetchRequest {
        withLogin(.post(url, json: Array(try JSONEncoder.stable.encode(body))))
    }

    func post(form: [String: String]) -> FetchRequest { withLogin(.post(url, form: form)) }

    private func withLogin(_ request: FetchRequest) -> FetchRequest {
        var request = request
        request.headers.merge(headers) { $1 }
        return request
    }
}

extension HTTPPosting {
    /// Sends the request and returns if the response's status reports success.
    /// - Throws: `DeliveryError`, `CancellationError`.
    func deliver(_ request: FetchRequest, within deadline: Duration) async throws {
        let status: Int
        do {
            status = try await post(request, within: deadline)
        } catch let obstacle as Obstacle {
            throw DeliveryError.unreachable(obstacle)
        }
        switch status {
        case 200..<300: return
        // The cause is the configured login, not the message.
        case 401, 407: throw DeliveryError.gatewayDeferred(status: status)
        case 400..<500 where status != 408 && status != 429: throw DeliveryError.gatewayRefused(status: status)
        default: throw DeliveryError.gatewayDeferred(status: status)
        }
    }
}
