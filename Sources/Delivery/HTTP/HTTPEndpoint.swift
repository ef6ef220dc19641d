internal import Foundation

/// Where messages are posted to, and with which login.
struct HTTPEndpoint: Sendable, Equatable {
    /// What is posted.
    struct Request: Sendable {
        /// As they go over the wire.
        var headers: [(name: String, value: String)]
        let body: [UInt8]
    }

    /// Without user and password.
    let url: String
    let user: String?
    let password: String?

    /// Reads a URL, whose user and password are percent-encoded.
    ///
    /// - Throws: `DeliveryError.invalidSetting`, which never repeats the URL.
    init(_ text: String, field: String) throws(DeliveryError) {
        func refusal(_ reason: String) -> DeliveryError { .invalidSetting(field: field, reason: reason) }
        guard var url = URLComponents(string: text), url.host?.isEmpty == false,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { throw refusal("is not an absolute http or https URL") }
        user = url.user
        password = url.password
        url.user = nil
        url.password = nil
        url.fragment = nil
        guard let address = url.string,
            ![address, user ?? "", password ?? ""].contains(where: { $0.unicodeScalars.contains { $0.value < 32 } })
        else { throw refusal("has a control character") }
        self.url = address
    }
}
