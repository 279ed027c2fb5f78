import Foundation
import LarderTestSupport
import Testing

@testable import LarderDisk
@testable import LarderSystem

/// A directory for one test, in which the built command runs. It is removed at the end.
final class Scene {
  /// The directory to which paths on the command line are relative.
  let root: URL
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    root = URL(filePath: directory.path)
  }

  /// The built command, which lies beside the test bundle.
  static let program: URL = {
    let arguments = ProcessInfo.processInfo.arguments
    let bundle =
      arguments.first { $0.hasSuffix(".xctest") || $0.contains(".xctest/") } ?? arguments[0]
    return URL(filePath: bundle).deletingLastPathComponent().appending(path: "larder")
  }()

  /// Runs the command with arguments and stdin, and waits for its end.
  func run(_ arguments: String..., input: Data = Data()) throws -> Outcome {
    try run(arguments, input: input)
  }

  /// Runs the command with arguments and stdin, and waits for its end.
  func run(
    _ arguments: [String], input: Data = Data(), environment: [String: String] = [:]
  ) throws -> Outcome {
    try run(Self.program.path, arguments, input: input, environment: environment)
  }

  /// Runs a line of the shell in which `$larder` is the command.
  func shell(_ line: String) throws -> Outcome {
    try run("/bin/sh", ["-c", line], input: Data(), environment: [:])
  }

  /// Sets the attribute of an entry in `c`. False if the file system keeps none.
  func setAttribute(ofEntry name: String, to text: String) throws -> Bool {
    let entry = try #require(EntryName(Array(name.utf8)))
    let handle = try DirectoryHandle.open(path: root.path + "/c", faults: nil)
    do throws(Errno) {
      try handle.openForReading(entry.fileName).setAttribute(.entry, to: Array(text.utf8))
    } catch .notSupported {
      return false
    }
    return true
  }

  private func run(
    _ program: String, _ arguments: [String], input: Data, environment: [String: String]
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.currentDirectoryURL = root
    process.environment = [
      "PATH": "/usr/bin:/bin", "HOME": root.path, "TMPDIR": root.path, "LC_ALL": "C.UTF-8",
      "TZ": "UTC0", "larder": Self.program.path,
    ].merging(environment) { $1 }
    // Files instead of pipes, which could fill up and block the command.
    let files = try ["in", "out", "err"].map { try temporary($0, input) }
    process.standardInput = files[0]
    process.standardOutput = files[1]
    process.standardError = files[2]
    try process.run()
    process.waitUntilExitPatiently()
    for file in files.dropFirst() { try file.seek(toOffset: 0) }
    return Outcome(
      status: process.terminationStatus, output: try files[1].readToEnd() ?? Data(),
      talk: String(decoding: try files[2].readToEnd() ?? Data(), as: UTF8.self))
  }

  private func temporary(_ name: String, _ input: Data) throws -> FileHandle {
    let path = root.appending(path: ".\(name)-\(UUID().uuidString)")
    try (name == "in" ? input : Data()).write(to: path)
    let handle = try FileHandle(forUpdating: path)
    try FileManager.default.removeItem(at: path)
    return handle
  }
}

extension Scene {
  /// Writes a file.
  func write(_ content: some Sequence<UInt8>, to name: String) throws {
    try Data(content).write(to: root.appending(path: name))
  }

  /// Reads a file.
  func read(_ name: String) throws -> Data {
    try Data(contentsOf: root.appending(path: name))
  }

  /// Returns the names in a directory other than the tag, sorted.
  func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: root.appending(path: directory).path
    ).filter { $0 != "CACHEDIR.TAG" }.sorted()
  }

  /// Stores text under a key, and expects success.
  func put(_ value: String, _ key: String, _ options: String..., in directory: String = "c") throws
  {
    let outcome = try run(["put", directory, key] + options, input: Data(value.utf8))
    #expect(outcome.status == 0 && outcome.talk.isEmpty && outcome.output.isEmpty)
  }
}
