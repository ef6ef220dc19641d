/// The binds of one request, encoded in one buffer by the caller, so that the reactor only passes pointers into it.
struct Arguments: Sendable {
    static let sizeFault = "the values exceed PostgreSQL's limit of 1 GB or 65,535 parameters"
    /// The offset that represents NULL.
    static let null = -1

    let types: [UInt32]
    let lengths: [Int32]
    let offsets: [Int]
    let bytes: [UInt8]

    init(_ binds: [Bind]) throws(PostgresError) {
        for bind in binds {
            if let fault = bind.fault { throw .encoding(fault) }
        }
        let total = binds.reduce(0) { $0 + ($1.value?.count ?? 0) }
        guard binds.count <= Int(UInt16.max), total <= 1 << 30 else { throw .encoding(Self.sizeFault) }
        var lengths: [Int32] = []
        var offsets: [Int] = []
        var bytes: [UInt8] = []
        // One extra byte, so that an empty value at the end has a valid address.
        bytes.reserveCapacity(total + 1)
        for bind in binds {
            offsets.append(bind.value == nil ? Self.null : bytes.count)
            lengths.append(Int32(truncatingIfNeeded: bind.value?.count ?? 0))
            bytes += bind.value ?? []
        }
        bytes.append(0)
        types = binds.map(\.type)
        (self.lengths, self.offsets, self.bytes) = (lengths, offsets, bytes)
    }

    /// Calls `body` with the arguments of libpq's `PQsendQueryPrepared`: count, values, lengths and formats (all
    /// binary).
    func withPointers<Output>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> Output
    ) -> Output {
        bytes.withUnsafeBytes { buffer in
            let values = offsets.map { offset in
                offset == Self.null ? nil : buffer.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            let formats = [Int32](repeating: 1, count: offsets.count)
            return body(Int32(truncatingIfNeeded: offsets.count), values, lengths, formats)
        }
    }
}
