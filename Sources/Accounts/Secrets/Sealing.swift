/// Where a sealed value is stored.
///
/// Opening it in another place fails, so that rows cannot be swapped.
package struct SealingPlace: Sendable {
    package let application: Application.ID
    package let table: String
    package let column: String
    /// The row's key in the form that its table uses.
    package let row: String

    package init(application: Application.ID, table: String, column: String, row: String) {
        self.application = application
        self.table = table
        self.column = column
        self.row = row
    }
}

/// Authenticated encryption of values that must be read again: signing keys, provider tokens, queued messages.
package protocol Sealing: Sendable {
    func seal(_ plaintext: [UInt8], at place: SealingPlace) throws -> [UInt8]
    /// - Throws: `AccountsError.unreadableSecret` for another place, another key or a changed byte.
    func open(_ sealed: [UInt8], at place: SealingPlace) throws -> [UInt8]
    /// A keyed hash to find sealed values by. Equal texts have equal marks.
    func mark(of text: String) -> [UInt8]
}
