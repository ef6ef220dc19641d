/// The limits on texts from outside, which RFC 8259 allows (9).
///
/// A dictionary takes long to hash names with many combining marks, because it sorts them. Foundation's decoder, which
/// decodes requests after `check`, takes longer for a value of any type the deeper it is nested, and traps at some
/// numbers of more than 160 digits.
extension JSONText {
    package enum Fault: Error {
        case malformed
        /// An escaped U+0000, which PostgreSQL can't store.
        case holdsNUL
        case tooDeep
        /// A name of more than 128 bytes, or with more than 32 combining marks in a row.
        case unfitName
        /// A number of more than 128 bytes.
        case longNumber
        /// An object names a member twice.
        case repeatedName
        /// The limited member is larger than its limit.
        case oversized(MemberLimit)
    }

    /// The largest size of a member of the outermost object, not counting blanks and needless escapes.
    package struct MemberLimit: Sendable {
        package let name: String
        package let bytes: Int

        package init(name: String, bytes: Int) { (self.name, self.bytes) = (name, bytes) }
    }

    /// The deepest nesting of a text from outside.
    package static let deepest = 16
    /// The deepest nesting of a text that the server has written, since each level takes some of the thread's stack.
    static let deepestOwn = 512
    /// The longest name in bytes.
    package static let longestName = 128
    /// The longest number in bytes.
    package static let longestNumber = 128
}
