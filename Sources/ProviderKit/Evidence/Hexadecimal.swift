extension Collection<UInt8> {
    /// Lower-case hexadecimal digits, two for each byte.
    package var hex: String {
        // In one piece: a text of every byte took a twentieth of a sign-in's processor time, for the audit.
        String(unsafeUninitializedCapacity: 2 * count) { digits in
            for (index, byte) in enumerated() {
                digits[2 * index] = Self.digit(byte >> 4)
                digits[2 * index + 1] = Self.digit(byte & 0xF)
            }
            return 2 * count
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
