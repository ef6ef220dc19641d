package import FoundationEssentials

extension Bind {
    package static func texts(_ values: [String]?) -> Self {
        guard let values else { return Self(type: TypeOID.textArray, value: nil) }
        guard !values.contains(where: { $0.utf8.contains(0) }) else {
            return Self(type: TypeOID.textArray, fault: nulFault)
        }
        return Self(type: TypeOID.textArray, of: TypeOID.text, values.map { Array($0.utf8) })
    }

    package static func uuids(_ values: [UUID]?) -> Self {
        guard let values else { return Self(type: TypeOID.uuidArray, value: nil) }
        return Self(type: TypeOID.uuidArray, of: TypeOID.uuid, values.map(\.bytes))
    }

    package static func ints(_ values: [Int]) -> Self {
        Self(type: TypeOID.int8Array, of: TypeOID.int8, values.map { Int64($0).bigEndianBytes })
    }

    package static func bytesArray(_ values: [[UInt8]]) -> Self {
        Self(type: TypeOID.bytesArray, of: TypeOID.bytes, values)
    }

    /// Encodes an array with one dimension, lower bound 1 and no NULLs; an empty array has no dimensions.
    private init(type: UInt32, of element: UInt32, _ values: [[UInt8]]) {
        let dimensions: Int32 = values.isEmpty ? 0 : 1
        let hasNulls: Int32 = 0
        var encoded = dimensions.bigEndianBytes + hasNulls.bigEndianBytes + element.bigEndianBytes
        guard let count = Int32(exactly: values.count), values.allSatisfy({ $0.count <= Int32.max }) else {
            self.init(type: type, fault: Arguments.sizeFault)
            return
        }
        if count > 0 {
            let lowerBound: Int32 = 1
            encoded += count.bigEndianBytes + lowerBound.bigEndianBytes
        }
        for value in values {
            encoded += Int32(truncatingIfNeeded: value.count).bigEndianBytes
            encoded += value
        }
        self.init(type: type, value: encoded)
    }
}
