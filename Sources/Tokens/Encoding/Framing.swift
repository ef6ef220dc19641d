/// Texts put together for a MAC, so that no two lists of them give the same bytes.
enum Framing {
    /// Each text in UTF-8 behind its length in eight bytes.
    static func encode(_ texts: [String]) -> [UInt8] {
        texts.reduce(into: []) { bytes, text in
            withUnsafeBytes(of: UInt64(text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text.utf8)
        }
    }
}
