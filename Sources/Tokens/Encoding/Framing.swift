/// Encodes lists of texts as the input of a MAC, so that different lists give different bytes.
enum Framing {
    /// Encodes each text as UTF-8, preceded by its length in eight bytes.
    static func encode(_ texts: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + 8 + $1.utf8.count })
        for text in texts {
            withUnsafeBytes(of: UInt64(text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text.utf8)
        }
        return bytes
    }
}
