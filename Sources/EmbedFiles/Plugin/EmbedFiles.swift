import Foundation
import PackagePlugin

/// Embeds the files of a target that no other build rule handles, such as message templates, as `EmbeddedFiles.all`.
///
/// SwiftPM's own `.embedInCode` identifies a file by its name without its folder, so that files with equal names in two
/// folders collide.
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
