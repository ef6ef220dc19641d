internal import Foundation

/// Where messages or events are posted to, and the login for it.
struct HTTPEndpoint: Sendable, Equatable {
    /// Without user and password.
    let url: String
    /// `Authorization` (RFC 7617) where the URL has a user.
    let headers: [String: String]

    /// Reads a URL, whose user and password are percent-encoded.
    ///
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
}
