import Foundation

extension Diagnostics {
  /// An editor with a plugin of ours, and the places of its settings and plugins.
  private struct Editor {
    var name: String
    var program: String
    /// Paths below the home folder, any of which may exist.
    var settings: [String]
    /// Folders of packages, below the home folder.
    var packages: [String]
    /// The folder of packages for all users, beside the program.
    var commonPackages: String
    /// Files that identify the plugin's folder.
    var landmark: String
    /// The plugin's folder, in that of all plugins.
    var folder: String { landmark.split(separator: "/").first.map(String.init) ?? "" }
    /// What to add to the settings.
    var advice: (_ folder: String, _ settings: String) -> String
    /// What a person still has to do if the package is installed for all users.
    var stillNeeded: String?
  }

  private static let editors = [
    Editor(
      name: "vim", program: "vim", settings: [".vimrc", ".vim/vimrc", ".config/vim/vimrc"],
      packages: [".vim/pack", ".vim/plugged", ".vim/bundle"], commonPackages: "vim/vimfiles/pack",
      landmark: "vim/plugin/notes_lsp.vim", advice: { "Add to \($1): set runtimepath+=\($0)/vim" }),
    Editor(
      name: "neovim", program: "nvim", settings: [".config/nvim/init.vim", ".config/nvim/init.lua"],
      packages: [".local/share/nvim/site/pack", ".local/share/nvim/plugged", ".local/share/nvim/lazy"],
      commonPackages: "nvim/site/pack", landmark: "neovim/plugin/notes_lsp.lua",
      advice: { folder, settings in
        let lua = "vim.opt.runtimepath:append(\"\(folder)/neovim\")"
        return "Add to \(settings): " + (settings.hasSuffix(".lua") ? lua : "set runtimepath+=\(folder)/neovim")
      }),
    Editor(
      name: "emacs", program: "emacs", settings: [".emacs", ".emacs.el", ".emacs.d/init.el", ".config/emacs/init.el"],
      packages: [".emacs.d/elpa", ".config/emacs/elpa"], commonPackages: "emacs/site-lisp/elpa",
      landmark: "emacs/notes-lsp.el",
      advice: { folder, _ in
        "Add to your init file: (add-to-list 'load-path \"\(folder)/emacs\") (require 'notes-lsp)"
      },
      stillNeeded: "Add to your init file: (require 'notes-lsp)"),
  ]

  func lookAtEditors() {
    let environment = ProcessInfo.processInfo.environment
    let folders = (environment["PATH"] ?? "").split(separator: ":")
    let there = Diagnostics.editors.filter { editor in
      folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(editor.program)") }
    }
    if there.isEmpty {
      bad(
        "editors", "none of Vim, Neovim and Emacs is on the PATH",
        "Install one of them, or use another editor with an LSP client.")
    }
    let home = environment["HOME"] ?? NSHomeDirectory()
    for editor in there { lookAtPlugin(of: editor, home: home) }
  }

  /// Whether the editor loads our plugin. A missing plugin is not a fault: the person may use another editor.
  private func lookAtPlugin(of editor: Editor, home: String) {
    let folder = Diagnostics.pluginFolders.first {
      FileManager.default.fileExists(atPath: $0 + "/" + editor.landmark)
    }
    // The line that is advised below names the folder alone.
    let signs = ["notes-lsp", "notes_lsp"] + (folder.map { [$0 + "/" + editor.folder] } ?? [])
    let settings = editor.settings.first { name in
      guard let text = try? String(contentsOfFile: home + "/" + name, encoding: .utf8) else { return false }
      return signs.contains { text.contains($0) }
    }
    if let settings { return good(editor.name, "~/\(settings) loads the plugin") }
    let packages = editor.packages.first { Diagnostics.holdsPlugin(home + "/" + $0) }
    if let packages { return good(editor.name, "the plugin is installed in ~/\(packages)") }
    let common = Diagnostics.commonFolder.map { $0 + "/" + editor.commonPackages }
    if let common, Diagnostics.holdsPlugin(common) {
      return good(editor.name, "the plugin is installed in \(common)", editor.stillNeeded)
    }
    good(
      editor.name, "installed, but without the plugin",
      editor.advice(folder ?? "/where/the/plugins/are", Diagnostics.settings(of: editor, home: home)))
  }

  /// The file to add a line to: of several, an editor reads only the first.
  private static func settings(of editor: Editor, home: String) -> String {
    let there = editor.settings.first { FileManager.default.fileExists(atPath: home + "/" + $0) }
    return "~/" + (there ?? editor.settings[0])
  }

  /// The folder where packages of the system put files that are the same on every machine.
  private static var commonFolder: String? {
    program?.deletingLastPathComponent().appendingPathComponent("../share").standardized.path
  }

  private static var program: URL? {
    Bundle.main.executablePath.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath() }
  }

  /// A package manager puts a plugin one or three folders deep.
  private static func holdsPlugin(_ folder: String) -> Bool {
    let all = FileManager.default.enumerator(atPath: folder)
    while let entry = all?.nextObject() as? String {
      if (entry as NSString).lastPathComponent.hasPrefix("notes-lsp") { return true }
      if entry.split(separator: "/").count >= 3 { all?.skipDescendants() }
    }
    return false
  }

  /// The plugins' folder relative to the program, as installing and building place it.
  private static var pluginFolders: [String] {
    guard let program else { return [] }
    var folders = [program.deletingLastPathComponent().appendingPathComponent("../lib/notes-lsp").standardized.path]
    var folder = program
    for _ in 0..<5 {
      folder.deleteLastPathComponent()
      folders.append(folder.appendingPathComponent("editor-plugins").path)
    }
    return folders
  }
}
