internal import Accounts
package import Hummingbird
internal import NIOCore

/// What is known of a request once it is inside.
package struct RequestState: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The TCP peer, which may be a proxy.
    let peer: String?
    /// The connection; with HTTP/2, the request's own stream.
    let channel: any Channel
    var visit: Visit?

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress?.ipAddress
    }
}

/// A request whose application and client are known.
struct Visit: Sendable {
    let application: ServedApplication
    let client: Client
    /// `/apps/{application}`, or empty.
    let pathPrefix: String
    let site: Site
}
