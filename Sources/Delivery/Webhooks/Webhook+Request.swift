internal import Accounts
internal import Crypto
internal import Foundation
internal import ProviderKit

extension Webhook {
    private struct Payload: Encodable {
        let type: String
        let timestamp: String
        let data: [String: JSONValue]
    }

    /// What is posted: the same body and id at every attempt, signed with the time of this one.
    func request(_ delivery: TakenDelivery, at now: Date) throws -> FetchRequest {
        let body = try body(of: delivery)
        let id = delivery.event.text
        let timestamp = String(Int(now.timeIntervalSince1970))
        var request = FetchRequest.post(endpoint.url, json: body)
        request.headers.merge(endpoint.headers) { $1 }
        request.headers["webhook-id"] = id
        request.headers["webhook-timestamp"] = timestamp
        request.headers["webhook-signature"] = signature(id: id, timestamp: timestamp, body: body)
        return request
    }

    func signature(id: String, timestamp: String, body: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(id).\(timestamp).".utf8) + body, using: SymmetricKey(data: key))
        return "v1,\(Data(code).base64EncodedString())"
    }

    private func body(of delivery: TakenDelivery) throws -> [UInt8] {
        let data: [String: JSONValue] = [
            "uid": .string(delivery.uid.text), "application": .string(delivery.applicationName),
        ]
        let payload = Payload(
            type: delivery.kind,
            timestamp: delivery.createdAt.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            data: delivery.details.merging(data) { $1 })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(payload))
    }
}
