/// Where a sealed value stands.
///
/// Opening it anywhere else fails, so that a row can't be passed off as another.
package struct SealingPlace: Sendable {
    package let application: Application.ID
    package let table: String
    package let column: String
    /// The row's key, in the form that its table uses.
    package let row: String

    package init(application: Application.ID, table: String, column: String, row: String) {
        self.application = application
        self.table = table
        self.column = column
        self.row = row
    }
}

/// Authenticated encryption of what must be readable again: signing keys, provider tokens, messages on their way out.
package protocol Sealing: Sendable {
    func seal(_ plaintext: [UInt8], at place: SealingPlace) throws -> [UInt8]
    /// - Throws: `AccountsError.unreadableSecret` for another place, another key or a changed byte.
    func open(_ sealed: [UInt8], at place: SealingPlace) throws -> [UInt8]
    /// By which a sealed value can be found again by whoever knows what it is about: equal texts have equal marks.
    func mark(of text: String) -> [UInt8]
}
