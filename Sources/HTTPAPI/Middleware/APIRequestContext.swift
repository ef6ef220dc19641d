internal import Accounts
package import Hummingbird
internal import Logging
internal import NIOCore
internal import ProviderKit

/// The request context of Hummingbird, with the connection, the request's id and its scope.
package struct APIRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The address of the TCP peer, which may be a proxy.
    let peer: IPAddress?
    /// The connection; with HTTP/2, the request's own stream.
    let channel: any Channel
    /// The client's `X-Request-ID`, or a generated one.
    var id = ""
    /// The application and client; `nil` until `APIResponder` has found them.
    var scope: RequestScope?

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        peer = source.channel.remoteAddress.flatMap(IPAddress.init)
    }
}

extension IPAddress {
    /// Copies the bytes of a socket address, because formatting and parsing it took 1 % of a request's processor time.
    fileprivate init?(_ address: SocketAddress) {
        // The address follows the address family and the port, and for IPv6 also the flow label (`ip(7)`, `ipv6(7)`).
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
    /// A logger that adds the request's id to each line; created on use, because few requests log anything.
    var log: Logger {
        var logger = logger
        logger[metadataKey: "request"] = .string(id)
        return logger
    }
}

/// The application and client of a request.
///
/// This type is a class, because every request copies its context several times.
final class RequestScope: Sendable {
    let application: ServedApplication
    let client: Client
    /// `/apps/{application}`, or empty.
    let pathPrefix: String
    /// What precedes the paths of endpoints in the client's URLs (`ApplicationLookup`).
    let publicPath: String
    let site: Site
    let listener: Listener
    let forwarding: Forwarding

    init(
        application: ServedApplication, pathPrefix: String = "", publicPath: String = "", client: Client,
        forwarding: Forwarding, site: Site, listener: Listener
    ) {
        (self.application, self.client) = (application, client)
        (self.pathPrefix, self.publicPath) = (pathPrefix, publicPath)
        (self.forwarding, self.site, self.listener) = (forwarding, site, listener)
    }

    /// The client's address; `nil` if the request came through a trusted proxy that did not state it.
    var statedAddress: String? { forwarding.isAddressStated ? forwarding.address : nil }
}
