import Foundation
import PackagePlugin

/// Embeds the files of a target that no other build rule takes, such as message templates, as `EmbeddedFiles.all`.
///
/// SwiftPM's own `.embedInCode` names a file by its base name alone, so that the same name in two folders collides.
@main
struct EmbedFiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let files = target.sourceFiles.filter { $0.type == .unknown }.map(\.url).sorted { $0.path() < $1.path() }
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(files.count) files in \(target.name)",
                executable: try context.tool(named: "EmbedFilesTool").url,
                arguments: ([output, target.directoryURL] + files).map { $0.path(percentEncoded: false) },
                inputFiles: files, outputFiles: [output])
        ]
    }
}
