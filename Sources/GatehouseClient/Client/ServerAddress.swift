internal import Foundation

/// The base URL of an application's API.
struct ServerAddress: Sendable {
    let base: URL

    init(url: URL, application: String?) {
        var place = url
        if let application { place = place.appending(segments: ["apps", application]) }
        base = place.appending(segments: ["api", "v1"])
    }

    /// The URL of a path below the base; each segment is escaped.
    func url(of path: [String]) -> URL { base.appending(segments: path) }
}

extension URL {
    /// Appends path segments; a slash in a segment is escaped like every other reserved character.
    fileprivate func appending(segments: [String]) -> URL {
        let path = segments.map { $0.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? "" }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        var place = components.percentEncodedPath
        while place.hasSuffix("/") { place.removeLast() }
        components.percentEncodedPath = place + "/" + path.joined(separator: "/")
        return components.url ?? self
    }
}

extension CharacterSet {
    /// The characters that need no escape in a URL (RFC 3986, 2.3).
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
