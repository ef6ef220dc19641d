package import Accounts
package import Foundation

/// Writes an `ExportPayload` as it is read, a page at a time.
package struct ExportWriter: Sendable {
    private let export: AccountExport
    private let recipients: [Recipient]

    package init(export: AccountExport, recipients: [Recipient]) {
        self.export = export
        self.recipients = recipients
    }

    /// `sink` takes the bytes of the document in order.
    package func write(
        _ uid: UUID, in application: Application, at time: Date, to sink: ([UInt8]) async throws -> Void
    ) async throws {
        var isFirst = true
        for key in ExportPayload.CodingKeys.allCases {
            try await sink(Array("\(isFirst ? "{" : ",")\"\(key.rawValue)\":".utf8))
            isFirst = false
            try await write(key, of: uid, in: application, at: time, to: sink)
        }
        try await sink(Array("}\n".utf8))
    }

    private func write(
        _ key: ExportPayload.CodingKeys, of uid: UUID, in application: Application, at time: Date,
        to sink: ([UInt8]) async throws -> Void
    ) async throws {
        func rows<Row: Codable>(_ section: PersonalDataSection, _ type: Row.Type) async throws {
            var list = ListWriter()
            try await export.forEachPage(of: section, about: uid, in: application) { page in
                try await sink(list.bytes(of: page.map { try $0.decoded(as: type) }))
            }
            try await sink(list.end)
        }
        switch key {
        case .exportedAt: try await sink(Self.encode(Timestamp(time)))
        case .application: try await sink(Self.encode(application.name))
        case .account:
            try await export.forEachPage(of: .account, about: uid, in: application) { page in
                let account = try page.first?.decoded(as: ExportedAccount.self)
                try await sink(Self.encode(account))
            }
        case .aliases: try await rows(.aliases, ExportedAccount.self)
        case .identities: try await rows(.identities, ExportedIdentity.self)
        case .addresses: try await rows(.addresses, ExportedAddress.self)
        case .passwords: try await rows(.passwords, ExportedPassword.self)
        case .providerTokens: try await rows(.providerTokens, ExportedProviderToken.self)
        case .tokenRevocations: try await rows(.tokenRevocations, ExportedTokenRevocation.self)
        case .sessions: try await rows(.sessions, ExportedSession.self)
        case .pendingRegistrations: try await rows(.pendingRegistrations, ExportedRegistration.self)
        case .pendingProofs: try await rows(.pendingProofs, ExportedProof.self)
        case .redirectFlows: try await rows(.redirectFlows, ExportedFlow.self)
        case .merges: try await rows(.merges, ExportedMerge.self)
        case .erasures: try await rows(.erasures, ExportedErasure.self)
        case .webhookDeliveries: try await rows(.webhookDeliveries, ExportedDelivery.self)
        case .messages: try await rows(.messages, ExportedMessage.self)
        case .auditEvents:
            var list = ListWriter()
            try await export.forEachPage(ofAuditAbout: uid, in: application) { page in
                try await sink(list.bytes(of: page.map { try ExportedEvent($0) }))
            }
            try await sink(list.end)
        case .recipients: try await sink(Self.encode(recipients.map(ExportedRecipient.init)))
        }
    }

    fileprivate static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}

/// A JSON array that grows page by page.
private struct ListWriter {
    private var isEmpty = true

    mutating func bytes(of page: [some Encodable]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for item in page {
            bytes += Array((isEmpty ? "[" : ",").utf8) + (try ExportWriter.encode(item))
            isEmpty = false
        }
        return bytes
    }

    var end: [UInt8] { Array((isEmpty ? "[]" : "]").utf8) }
}

extension PersonalDataRow {
    /// Columns by their names as the payload spells them.
    fileprivate func decoded<Payload: Decodable>(as type: Payload.Type) throws -> Payload {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            ColumnKey(path, columns: 1)
        }
        return try decoder.decode(type, from: Data(columns.utf8))
    }
}

/// `provider_uid` is `providerUid`; names inside a column's own JSON stay as they are.
private struct ColumnKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ path: [any CodingKey], columns: Int) {
        let name = path.last?.stringValue ?? ""
        let words = name.split(separator: "_")
        let isColumn = path.count <= columns && words.count > 1
        stringValue =
            isColumn ? words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() : name
        intValue = path.last?.intValue
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init?(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
