internal import Hummingbird

/// Finds the application of a request by its path prefix or host; otherwise uses the default application.
///
/// `APIResponder` has checked that path and host are short ASCII texts.
struct ApplicationLookup {
    let application: ServedApplication
    let pathPrefix: String
    /// The path and query without the application's prefix.
    let path: String
    private let isAtOwnHost: Bool

    private static let prefix = "/apps/"
    private static let metadataPath = "/.well-known/oauth-authorization-server"

    /// - Throws: `APIError` with `UNKNOWN_APPLICATION`.
    init(of request: Request, in site: Site) throws {
        let whole = request.head.path ?? "/"
        if whole.hasPrefix(Self.metadataPath + Self.prefix) {
            // The place of the metadata of an issuer with a path (RFC 8414, 3).
            let name = whole.dropFirst(Self.metadataPath.count + Self.prefix.count).prefix { $0 != "/" && $0 != "?" }
            application = try site.application(named: String(name))
            pathPrefix = Self.prefix + name
            path = Self.metadataPath + whole.dropFirst(Self.metadataPath.count + pathPrefix.count)
            isAtOwnHost = false
        } else if whole.hasPrefix(Self.prefix) {
            let name = whole.dropFirst(Self.prefix.count).prefix { $0 != "/" && $0 != "?" }
            application = try site.application(named: String(name))
            pathPrefix = Self.prefix + name
            let rest = String(whole.dropFirst(pathPrefix.count))
            path = rest.hasPrefix("/") ? rest : "/" + rest
            isAtOwnHost = false
        } else {
            let found = Self.host(of: request, in: site)
            application = try site.application(named: found?.application ?? site.defaultApplication)
            pathPrefix = ""
            path = whole
            isAtOwnHost = found.map { !site.publicHosts.contains($0.host) } ?? false
        }
    }

    /// What precedes the paths of endpoints in the client's URLs: the path of the server's URL and `pathPrefix`; nothing at
    /// a host that is the application's own.
    func publicPath(in site: Site) -> String { isAtOwnHost ? "" : site.publicPath + pathPrefix }

    /// The path without an application's prefix and the query, also of an unknown application.
    static func ownPath(of request: Request) -> String {
        let path = (request.head.path ?? "/").prefix { $0 != "?" }
        for outer in [metadataPath, ""] where path.hasPrefix(outer + prefix) {
            return outer + path.dropFirst(outer.count + prefix.count).drop { $0 != "/" }
        }
        return String(path)
    }

    /// The host by which the request names an application.
    private static func host(of request: Request, in site: Site) -> (host: String, application: String)? {
        guard !site.hosts.isEmpty, let authority = request.head.authority?.lowercased() else { return nil }
        for host in [authority, request.hostName] {
            if let application = site.hosts[host] { return (host, application) }
        }
        return nil
    }
}

extension Request {
    /// Whether the client shows pages to a person.
    var takesPages: Bool { headers[.accept]?.utf8.firstRange(of: "text/html".utf8) != nil }

    /// The host in lower case and without a port.
    var hostName: String {
        let authority = head.authority?.lowercased() ?? ""
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        guard let colon = authority.lastIndex(of: ":"), end.map({ $0 < colon }) ?? true else {
            return authority
        }
        return String(authority[..<colon])
    }
}

extension Site {
    fileprivate func application(named name: String) throws -> ServedApplication {
        guard let application = applications[name] else {
            throw APIError(.unknownApplication, "There is no such application")
        }
        return application
    }
}
