import Foundation

/// Writes a Swift file with the contents of text files: `EmbedFilesTool OUTPUT DIRECTORY FILE…`.
@main
struct EmbedFilesTool {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let output = arguments.first, let directory = arguments.dropFirst().first else {
            throw CocoaError(.featureUnsupported)
        }
        let entries = try arguments.dropFirst(2).map { path in
            let content = try String(contentsOfFile: path, encoding: .utf8)
            return "        \(path.dropFirst(directory.count).debugDescription): \(content.debugDescription),\n"
        }
        let source = """
            /// Text files of the target, by their paths below its directory.
            enum EmbeddedFiles {
                static let all: [String: String] = [
            \(entries.isEmpty ? "        :\n" : entries.joined())    ]
            }

            """
        try source.write(toFile: output, atomically: true, encoding: .utf8)
    }
}
