extension UnsafeRawBufferPointer {
    /// Lower-case hexadecimal digits, two for each byte, in one allocation, since audit events need many.
    package var hex: String {
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

extension [UInt8] {
    /// Lower-case hexadecimal digits, two for each byte.
    package var hex: String { withUnsafeBytes(\.hex) }

    /// Parses hexadecimal digits of either case; `nil` for any other text or an odd number of digits.
    package init?(hex: some StringProtocol) {
        let digits = hex.utf8.compactMap(\.hexDigitValue)
        guard digits.count == hex.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension UInt8 {
    /// The value of this ASCII byte as a hexadecimal digit of either case; `nil` if it is not such a digit.
    package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
