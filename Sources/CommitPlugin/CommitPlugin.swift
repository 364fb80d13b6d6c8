import Foundation
import PackagePlugin

/// Has `BuildCommit.swift` written before each build: the commit that the program is built from.
@main
struct CommitPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let script = context.package.directoryURL.appendingPathComponent("Sources/CommitPlugin/commit.sh")
    let folder = context.pluginWorkDirectoryURL.appendingPathComponent("generated")
    return [
      .prebuildCommand(
        displayName: "Asking git for the commit", executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: [script.path, context.package.directoryURL.path, folder.path], outputFilesDirectory: folder)
    ]
  }
}
