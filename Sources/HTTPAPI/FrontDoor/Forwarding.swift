internal import HTTPTypes
internal import Hummingbird

/// Who is really calling, and how, when there may be a proxy in between.
///
/// Only a trusted peer's headers count.
struct Forwarding {
    /// The right-most address that is not itself a trusted proxy.
    let address: String
    let isSecure: Bool

    init(of request: Request, peer: String?, site: Site) {
        let peer = peer ?? "unknown"
        guard site.isTrustedProxy(peer) else {
            address = peer
            isSecure = site.endsTLS
            return
        }
        let forwarded = request.headers[values: .xForwardedFor]
            .flatMap { $0.split(separator: ",") }
            .map { String($0.trimming { $0 == " " || $0 == "\t" }) }
        let client = forwarded.last { !site.isTrustedProxy($0) } ?? forwarded.first
        // A header is anybody's text: what is no address is not taken for one.
        address = client.flatMap { $0.isPlausibleAddress ? $0 : nil } ?? peer
        isSecure = site.endsTLS || request.headers[.xForwardedProto]?.lowercased() == "https"
    }
}

extension String {
    fileprivate var isPlausibleAddress: Bool {
        utf8.count <= 45 && !isEmpty
            && utf8.allSatisfy { $0.isHexDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        Character(Unicode.Scalar(self)).isHexDigit
    }
}

extension Substring {
    fileprivate func trimming(_ isBlank: (Character) -> Bool) -> Substring {
        var text = self.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
