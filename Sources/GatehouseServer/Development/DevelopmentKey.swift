internal import Accounts
internal import Foundation
internal import Tokens

/// The key of the demo's custom tokens.
///
/// RS256, because `openssl dgst` writes such a signature in the form that a token needs.
struct DevelopmentKey {
    let path: String
    /// The public half as a JWK Set.
    let keySet: String

    /// Reads the key from the file, or makes one that only the file's owner can read.
    init(at file: URL) async throws {
        path = file.path
        let key: SigningKey
        if let text = try? String(contentsOf: file, encoding: .utf8) {
            guard let read = try? SigningKey(.rs256, privateKey: Self.der(ofPEM: text)) else {
                throw ServerError.development("\(path) is not a key that gatehouse dev made: delete it for a new one")
            }
            key = read
        } else {
            key = try await .generate(.rs256, bits: 2048)
            try DevelopmentHome.write(Self.pem(of: key.exported), to: file)
        }
        keySet = #"{"keys":[\#(key.publicKey.json)]}"#
    }

    private static let label = "RSA PRIVATE KEY"

    private static func pem(of der: [UInt8]) -> String {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }

    private static func der(ofPEM text: String) -> [UInt8] {
        let body = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        return Data(base64Encoded: body).map { Array($0) } ?? []
    }
}
