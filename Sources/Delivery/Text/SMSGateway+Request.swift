internal import Accounts
internal import Foundation
internal import ProviderKit

extension SMSGateway {
    private struct Payload: Encodable {
        let id: String
        let to: String
        let text: String
    }

    func request(_ message: TextMessage) throws -> FetchRequest {
        var request: FetchRequest
        switch form {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let payload = Payload(id: message.id.text, to: message.to.value, text: message.text)
            request = .post(endpoint.url, json: Array(try encoder.encode(payload)))
        case .twilio(let from):
            request = .post(endpoint.url, form: ["To": message.to.value, "From": from, "Body": message.text])
        }
        request.headers.merge(endpoint.headers) { $1 }
        return request
    }
}
