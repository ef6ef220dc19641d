internal import CQRCode

/// A QR code (ISO/IEC 18004), as a path for SVG.
///
/// Each module is a square of one unit; the picture includes the light margin that scanners need.
package struct QRCode: Sendable, Equatable {
    /// The width and height of the picture.
    package let size: Int
    /// The dark modules: a path whose lines are one unit wide.
    package let path: String

    /// The width of the margin, as the standard requires it.
    private static let margin = 4

    /// Encodes a text that can be restored if 15 % of the picture cannot be read.
    /// - Returns: `nil` if the text is longer than a code can be, or has a NUL.
    package init?(_ text: String) {
        guard !text.utf8.contains(0), let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else {
            return nil
        }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard width > 0, let data = code.pointee.data else { return nil }
        // The lowest bit of each module's byte is its colour.
        let modules = UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 }
        size = width + 2 * Self.margin
        path = Self.path(modules, width: width)
    }

    /// One line for each run of dark modules of a row; moves within a row are relative, which is shorter.
    private static func path(_ modules: [Bool], width: Int) -> String {
        var path = ""
        for row in 0..<width {
            var (end, column) = (0, 0)
            while column < width {
                guard modules[row * width + column] else {
                    column += 1
                    continue
                }
                let start = column
                while column < width, modules[row * width + column] { column += 1 }
                path += end == 0 ? "M\(start + margin) \(row + margin).5" : "m\(start - end) 0"
                path += "h\(column - start)"
                end = column
            }
        }
        return path
    }
}
