internal import Accounts
internal import Foundation
internal import ProviderKit

extension SMSGateway {
    private struct Payload: Encodable {
        let id: String
        let to: String
        let text: String
    }

    func request(_ message: TextMessage) throws -> HTTPEndpoint.Request {
        switch form {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let payload = Payload(id: message.id.text, to: message.to.value, text: message.text)
            return .init(headers: [("Content-Type", "application/json")], body: Array(try encoder.encode(payload)))
        case .twilio(let from):
            let fields = [("To", message.to.value), ("From", from), ("Body", message.text)]
            let form = fields.map { "\($0)=\(Self.formEncoded($1))" }.joined(separator: "&")
            return .init(
                headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
        }
    }

    /// All but RFC 3986's unreserved characters, byte by byte.
    private static func formEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(Unicode.Scalar(byte))
            default:
                (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
