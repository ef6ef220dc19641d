internal import ProviderKit

/// Finds the endpoint of a path, which may have parameters, by the path's number of parts.
struct EndpointPaths: Sendable {
    /// The longest path that is served, in bytes.
    static let longest = 1024

    /// By the path as it is declared, without values of parameters.
    private let endpoints: [String: Endpoint]
    /// The parts of the paths that have parameters, by their number.
    private let patterns: [Int: [(parts: [Substring], endpoint: Endpoint)]]

    init(_ endpoints: [Endpoint]) {
        self.endpoints = Dictionary(endpoints.map { ($0.path, $0) }) { first, _ in first }
        let patterns = self.endpoints.values.filter { $0.path.contains("{") }
            .map { (parts: Self.parts(of: $0.path), endpoint: $0) }
        self.patterns = Dictionary(grouping: patterns, by: { $0.parts.count })
    }

    /// The endpoint whose path is declared as `path`.
    subscript(path: String) -> Endpoint? { endpoints[path] }

    /// The endpoint that serves the path of a request.
    func serving(_ path: String) -> Endpoint? {
        if let endpoint = endpoints[path] { return endpoint }
        guard path.utf8.count <= Self.longest else { return nil }
        let sent = Self.parts(of: path)
        return patterns[sent.count]?.first {
            zip($0.parts, sent).allSatisfy { $0.hasPrefix("{") || $0.hasSameBytes(as: $1) }
        }?.endpoint
    }

    private static func parts(of path: String) -> [Substring] { path.split(separator: "/") }
}
