/// Rows for `Transaction.copy`, in the binary format of PostgreSQL's COPY.
///
/// They are laid out as they are appended, so that a batch costs one buffer, and another while it is sent. A value must
/// be of its column's very type: COPY converts nothing.
package struct CopyRows: Sendable {
    private static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
    private static let noFlags: Int32 = 0
    private static let noExtension: Int32 = 0
    private static let end: Int16 = -1
    private static let null: Int32 = -1

    /// How many rows there are.
    package private(set) var count = 0
    private var bytes = signature + noFlags.bigEndianBytes + noExtension.bigEndianBytes
    private var fault: String?

    package init() {}

    /// Appends a row, its values in the order of the statement's columns.
    package mutating func append(_ values: Bind...) {
        append(Int16(truncatingIfNeeded: values.count))
        for value in values {
            fault = fault ?? value.fault
            guard let field = value.value else {
                append(Self.null)
                continue
            }
            append(Int32(truncatingIfNeeded: field.count))
            bytes += field
        }
        count += 1
    }

    /// What the server reads, from the signature to the trailer.
    func encoded() throws(PostgresError) -> [UInt8] {
        if let fault { throw .encoding(fault) }
        guard bytes.count <= 1 << 30 else { throw .encoding(Arguments.sizeFault) }
        return bytes + Self.end.bigEndianBytes
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}
