internal import Accounts

struct ErasureResponse: Codable, Sendable {
    struct Processor: Codable, Sendable {
        let name: String
        let status: String
        let acknowledgedAt: Timestamp?

        init(_ processor: Accounts.Processor) {
            name = processor.name
            switch processor.status {
            case .pending: (status, acknowledgedAt) = ("pending", nil)
            case .acknowledged(let date): (status, acknowledgedAt) = ("acknowledged", Timestamp(date))
            case .unreachable: (status, acknowledgedAt) = ("unreachable", nil)
            }
        }
    }

    let status: String
    let requestedAt: Timestamp
    let purgeAfter: Timestamp
    let erasedAt: Timestamp?
    let processors: [Processor]
    /// A JWS of `typ: erasure+jwt`.
    let certificate: String?

    init(_ erasure: ErasureStatus) {
        status = erasure.phase.rawValue
        requestedAt = Timestamp(erasure.requestedAt)
        purgeAfter = Timestamp(erasure.purgeAfter)
        erasedAt = erasure.erasedAt.map { Timestamp($0) }
        processors = erasure.processors.map { Processor($0) }
        certificate = erasure.certificate
    }
}

extension ErasureResponse: DocumentedFields {
    static var fields: [String: JSONSchema] { ["status": .enumeration(["scheduled", "restored", "erased"])] }
}

extension ErasureResponse.Processor: DocumentedFields {
    static var fields: [String: JSONSchema] { ["status": .enumeration(["pending", "acknowledged", "unreachable"])] }
}
