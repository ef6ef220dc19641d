package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AdminNoteStore {
    private static let insertNote = Statement(
        .write,
        """
        INSERT INTO admin_notes (application_id, id, uid, sealed, actor, reason)
        VALUES ($1, $2, $3, $4, $5, $6)
        RETURNING created_at
        """)

    package func insertNote(
        _ text: String, about uid: UUID, by act: AdministrativeAct, application: Application.ID
    ) async throws -> AdminNote {
        let (id, details) = (UUID.v7(), act.details)
        let sealed = try sealing.seal(Array(text.utf8), at: .note(application: application, id: id))
        let actor = details["actor"] ?? .null
        var row = try await one(
            Self.insertNote,
            [
                .application(application), .uuid(id), .uuid(uid), .bytes(sealed), .json(try actor.jsonText()),
                .json(try details["reason"]?.jsonText()),
            ])
        return AdminNote(id: id, text: text, actor: actor, reason: details["reason"], createdAt: try row.next())
    }

    private static let selectNotes = Statement(
        .read, family,
        """
        SELECT n.id, n.sealed, n.actor::text, n.reason::text, n.created_at
          FROM admin_notes n
         WHERE n.application_id = $1 AND n.uid = ANY (ARRAY(SELECT uid FROM family))
           AND ($3::uuid IS NULL
                OR (n.created_at, n.id) < (SELECT l.created_at, l.id FROM admin_notes l
                                            WHERE l.application_id = $1 AND l.id = $3))
         ORDER BY n.created_at DESC, n.id DESC
         LIMIT $4
        """)

    package func notes(
        about uid: UUID, after last: UUID?, atMost count: Int, application: Application.ID
    ) async throws -> [AdminNote] {
        let binds: [Bind] = [.application(application), .uuid(uid), .uuid(last), .int(count)]
        return try await run(Self.selectNotes, binds).decoded { row in
            let id: UUID = try row.next()
            let text = try openNote(row.next(), id: id, application: application)
            return AdminNote(
                id: id, text: text, actor: try JSONValue(jsonText: row.next()),
                reason: try row.next(String?.self).map { try JSONValue(jsonText: $0) }, createdAt: try row.next())
        }
    }

    private func openNote(_ sealed: [UInt8], id: UUID, application: Application.ID) throws -> String {
        String(
            decoding: try sealing.open(sealed, at: .note(application: application, id: id)), as: UTF8.self)
    }
}

// MARK: - Export of personal data

extension SQLStore {
    /// The columns `key`, the row as JSON without the text, and the sealed text.
    static let personalNotes = Statement(
        .read, family,
        """
        SELECT id::text, jsonb_build_object('id', id, 'reason', reason, 'created_at', rfc3339(created_at))::text, sealed
          FROM admin_notes
        """, ofFamily, "AND id::text > $3 ORDER BY id::text LIMIT $4")

    /// The rows of the section `adminNotes`, with the texts.
    func personalNotes(_ binds: [Bind], application: Application.ID) async throws -> [PersonalDataRow] {
        try await run(Self.personalNotes, binds).decoded { row in
            let key: String = try row.next()
            guard let id = UUID(uuidString: key), case .object(var columns) = try JSONValue(jsonText: row.next()) else {
                throw AccountsError.unreadableSecret
            }
            columns["text"] = .string(try openNote(row.next(), id: id, application: application))
            return PersonalDataRow(key: key, columns: try JSONValue.object(columns).jsonText())
        }
    }
}

extension SealingPlace {
    package static func note(application: Application.ID, id: UUID) -> SealingPlace {
        SealingPlace(application: application, table: "admin_notes", column: "sealed", row: id.text)
    }
}
