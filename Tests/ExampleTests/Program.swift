import Foundation
import LarderTestSupport
import Testing

/// A program of the package, built beside the tests.
struct Program {
  let url: URL

  init(_ name: String) {
    let arguments = ProcessInfo.processInfo.arguments
    let bundle = arguments.first { $0.contains(".xctest") } ?? arguments[0]
    url = URL(filePath: bundle).deletingLastPathComponent().appending(path: name)
  }

  /// Returns the program and the first argument that run a command of the PATH.
  static func command(_ name: String) -> (Program, [String]) {
    (Program(url: URL(filePath: "/usr/bin/env")), [name])
  }

  private init(url: URL) { self.url = url }

  /// The result of a run.
  struct Outcome {
    let status: Int32
    let output: String
    let talk: String
  }

  /// Runs the program to its end. Both streams are files, so that neither can fill up and block.
  func run(
    _ arguments: [String], in scene: Scene, environment: [String: String] = [:]
  ) throws -> Outcome {
    let (process, files) = try prepare(arguments, in: scene, environment)
    try process.run()
    process.waitUntilExitPatiently()
    let texts = try files.map { file in
      try file.seek(toOffset: 0)
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
    return Outcome(status: process.terminationStatus, output: texts[0], talk: texts[1])
  }

  private func prepare(
    _ arguments: [String], in scene: Scene, _ environment: [String: String]
  ) throws -> (Process, [FileHandle]) {
    let files = try ["output", "talk"].map { _ in
      let file = scene.root.appending(path: ".\(UUID().uuidString)")
      try Data().write(to: file)
      defer { unsafe unlink(file.path) }
      return try FileHandle(forUpdating: file)
    }
    let process = Process()
    process.executableURL = url
    process.arguments = arguments
    process.currentDirectoryURL = scene.root
    process.environment = ProcessInfo.processInfo.environment
      .merging(["TMPDIR": scene.root.path]) { $1 }.merging(environment) { $1 }
    process.standardOutput = files[0]
    process.standardError = files[1]
    return (process, files)
  }

  /// Runs a command of the PATH.
  static func run(
    _ name: String, _ arguments: [String], in scene: Scene
  ) throws -> Outcome {
    let (program, first) = command(name)
    return try program.run(first + arguments, in: scene)
  }

  /// Whether a command is in the PATH and accepts `--version`.
  static func has(_ name: String) -> Bool {
    do {
      return try run(name, ["--version"], in: Scene()).status == 0
    } catch {
      return false
    }
  }
}
