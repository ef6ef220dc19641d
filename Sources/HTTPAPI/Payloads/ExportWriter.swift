package import Accounts
package import Foundation
internal import OpenID
internal import ProviderKit

/// Writes an `ExportPayload` while reading it from the database, one page of rows at a time.
package struct ExportWriter: Sendable {
    private let export: AccountExport
    private let recipients: [Recipient]

    package init(export: AccountExport, recipients: [Recipient]) {
        self.export = export
        self.recipients = recipients
    }

    /// Passes the bytes of the document to `sink` in order.
    package func write(
        _ uid: UUID, in application: Application, at time: Date, to sink: ([UInt8]) async throws -> Void
    ) async throws {
        func begin(_ section: String) async throws { try await sink(Array(",\"\(section)\":".utf8)) }
        try await sink(Array("{\"exportedAt\":\"\(Timestamp(time).text)\"".utf8))
        try await begin("application")
        try await sink(Self.encode(.string(application.name)))
        var clients: [String] = []
        var registered: [Recipient] = []
        for section in PersonalDataSection.allCases {
            try await begin(section.rawValue)
            let row = ExportedRow(section)
            guard section != .account else {
                try await export.forEachPage(of: section, about: uid, in: application) { page in
                    try await sink(Self.encode(page.first.map { try row.json(of: $0.values) } ?? .null))
                }
                continue
            }
            var list = ListWriter()
            try await export.forEachPage(of: section, about: uid, in: application) { page in
                if section == .consents {
                    clients += try page.compactMap { try $0.values["client_id"]?.string.map(Self.recipient) }
                    registered += try page.compactMap { Recipient(registered: try $0.values) }
                }
                try await sink(list.bytes(of: page.map { try row.json(of: $0.values) }))
            }
            try await sink(list.end)
        }
        try await begin("auditEvents")
        var list = ListWriter()
        try await export.forEachPage(ofAuditAbout: uid, in: application) { page in
            try await sink(list.bytes(of: page.map { try ExportedRow.event.json(of: $0.values) }))
        }
        try await sink(list.end)
        try await begin("recipients")
        let informed = recipients.filter { $0.client.map(clients.contains) ?? true } + registered
        try await sink(Self.encode(.array(informed.map { try ExportedRow.recipient.json(of: $0.values) })))
        try await sink(Array("}\n".utf8))
    }

    /// The client id under which a recipient is listed: for an installation of an app, the id of its software.
    private static func recipient(_ client: String) -> String {
        guard client.utf8.starts(with: OAuthClient.instancePrefix.utf8) else { return client }
        return client.utf8.split(separator: UInt8(ascii: "~")).dropFirst().first.map { String(Substring($0)) } ?? client
    }

    fileprivate static func encode(_ value: JSONValue) throws -> [UInt8] { Array(try JSONEncoder.stable.encode(value)) }
}

/// Writes a JSON array page by page.
private struct ListWriter {
    private var isEmpty = true

    mutating func bytes(of page: [JSONValue]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for item in page {
            bytes += Array((isEmpty ? "[" : ",").utf8) + (try ExportWriter.encode(item))
            isEmpty = false
        }
        return bytes
    }

    var end: [UInt8] { Array((isEmpty ? "[]" : "]").utf8) }
}

// MARK: - Values by the names of their columns

extension PersonalDataRow {
    fileprivate var values: [String: JSONValue] {
        get throws { try JSONDecoder().decode([String: JSONValue].self, from: Data(columns.utf8)) }
    }
}

extension AuditEvent {
    /// The columns; an administrator who acted is not named to the person.
    fileprivate var values: [String: JSONValue] {
        get throws {
            var details = try JSONValue(jsonText: details)
            if case .object(var members) = details, members["actor"] != nil {
                members["actor"] = "an administrator"
                details = .object(members)
            }
            return [
                "id": .string(id.text), "at": .string(Timestamp(date).text), "event": .string(event),
                "session": session.map { .string($0.text) } ?? .null,
                "details": details,
            ]
        }
    }
}

extension Recipient {
    /// A client that has registered itself, by the row of a consent to it; `nil` for other clients.
    fileprivate init?(registered consent: [String: JSONValue]) {
        guard let metadata = consent["client_metadata"], let id = consent["client_id"]?.string, !metadata.isNull else {
            return nil
        }
        let hosts = (metadata["redirect_uris"].array ?? []).compactMap(\.string)
            .compactMap { URLComponents(string: $0)?.host }
        self.init(name: metadata["client_name"].string ?? id, kind: .client, hosts: Set(hosts).sorted())
    }

    fileprivate var values: [String: JSONValue] {
        ["name": .string(name), "kind": .string(kind.rawValue), "hosts": .array(hosts.map { .string($0) })]
    }
}
