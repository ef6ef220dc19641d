internal import Accounts
package import Hummingbird
internal import Logging
internal import NIOCore
internal import ProviderKit

/// What is known of a request once it is inside.
package struct APIRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The TCP peer, which may be a proxy.
    let peer: IPAddress?
    /// The connection; with HTTP/2, the request's own stream.
    let channel: any Channel
    /// The client's own, or one of ours.
    var id = ""
    var scope: RequestScope?

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress.flatMap(IPAddress.init)
    }
}

extension IPAddress {
    /// From the bytes themselves: printing and reading them again took 1 % of a request's processor time.
    fileprivate init?(_ address: SocketAddress) {
        // Behind the family and the port, and with IPv6 a flow label (`ip(7)`, `ipv6(7)`).
        let place: Range<Int>
        switch address {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket: return nil
        }
        self.init(
            networkOrder: address.withSockAddr { pointer, size in
                place.upperBound <= size ? Array(UnsafeRawBufferPointer(start: pointer, count: size)[place]) : []
            })
    }
}

extension APIRequestContext {
    /// Names the request in whatever it logs; made when something is, which is seldom.
    var log: Logger {
        var logger = logger
        logger[metadataKey: "request"] = .string(id)
        return logger
    }
}

/// A request whose application and client are known.
struct RequestScope: Sendable {
    let application: ServedApplication
    let client: Client
    /// `/apps/{application}`, or empty.
    let pathPrefix: String
    let site: Site
}
