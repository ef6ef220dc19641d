/// The place of a sealed value, which cannot be opened at another place, so that swapped rows are detected.
package struct SealingPlace: Sendable {
    package let application: Application.ID
    package let table, column: String
    /// The row's primary key, as a text.
    package let row: String

    package init(application: Application.ID, table: String, column: String, row: String) {
        (self.application, self.table, self.column, self.row) = (application, table, column, row)
    }
}

/// Authenticated encryption of stored secrets that must be read again, such as signing keys and provider tokens.
package protocol Sealing: Sendable {
    func seal(_ plaintext: [UInt8], at place: SealingPlace) throws -> [UInt8]
    /// - Throws: `AccountsError.unreadableSecret` for a changed value, another place or another key.
    func open(_ sealed: [UInt8], at place: SealingPlace) throws -> [UInt8]
    /// A keyed hash of the text, by which sealed values can be found; equal texts have equal marks.
    func mark(of text: String) -> [UInt8]
}
