internal import Foundation
internal import ProviderKit

extension Data {
    /// The payload of a JWT, of which nothing is verified; `nil` if the text has not the form of one.
    init?(payloadOfUnverified token: String) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        self.init(base64URL: String(Substring(parts[1])))
    }
}
