internal import Foundation
internal import ProviderKit

/// A picture that pages show: SVG, PNG or WebP.
package struct Picture: Sendable, Equatable {
    package let bytes: [UInt8]
    /// The media type.
    package let type: String

    /// - Returns: `nil` for a picture of another type, which its first bytes tell.
    package init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            type = "image/png"
        } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            type = "image/webp"
        } else if String(validating: bytes, as: UTF8.self)?.contains("<svg") == true {
            type = "image/svg+xml"
        } else {
            return nil
        }
        self.bytes = bytes
    }
}

/// A colour of the sRGB space.
package struct Colour: Sendable, Equatable {
    /// As in CSS, for example `#1f5fd0`.
    package let text: String
    private let components: [UInt8]

    /// Parses `#` and six hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "#"),
            let components = [UInt8](hex: Substring(text.utf8.dropFirst())), components.count == 3
        else { return nil }
        (self.text, self.components) = (text, components)
    }

    /// The contrast to another colour, from 1 to 21 (WCAG 2.2); `nil` if the text is no colour.
    package func contrast(with other: String) -> Double? {
        guard let other = Colour(other) else { return nil }
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    private var luminance: Double {
        let linear = components.map { component -> Double in
            let value = Double(component) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }
}
