import Foundation
import Testing

/// The system's shell, as a user or a script outside of the process would use it.
enum Shell {
  /// The outcome of a script.
  struct Outcome {
    let status: Int32
    let output: String
    let complaints: String
  }

  /// The error for a script that failed.
  struct Failure: Error, CustomStringConvertible {
    let script: String
    let outcome: Outcome

    var description: String { "\(script)\nexit \(outcome.status)\n\(outcome.complaints)" }
  }

  /// Runs a script with `/bin/sh -e` in a directory, in the C locale and UTC, and returns its
  /// output.
  @discardableResult
  static func run(
    _ script: String, in directory: String, _ variables: [String: String] = [:]
  ) throws -> String {
    let outcome = try attempt(script, in: directory, variables)
    guard outcome.status == 0 else { throw Failure(script: script, outcome: outcome) }
    return outcome.output
  }

  /// Runs a script that may fail.
  static func attempt(
    _ script: String, in directory: String, _ variables: [String: String] = [:]
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-e", "-c", script]
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    // In a hook of git, its variables would name the repository of whoever runs the tests.
    let inherited = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("GIT_") && !["TAR_OPTIONS", "POSIXLY_CORRECT", "CDPATH"].contains($0.key)
    }
    let none = "/dev/null"
    let own = [
      "LC_ALL": "C", "TZ": "UTC", "GIT_CONFIG_GLOBAL": none, "GIT_CONFIG_SYSTEM": none,
      "GIT_ATTR_NOSYSTEM": "1",
    ]
    process.environment = inherited.merging(own) { $1 }.merging(variables) { $1 }
    // A file instead of a second pipe, because the script could block on one while the other is
    // read.
    let folder = try TemporaryDirectory()
    let complaints = URL(fileURLWithPath: "\(folder.path)/complaints")
    try Data().write(to: complaints)
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: complaints)
    try process.run()
    let printed = try process.waitPatiently {
      let printed = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return printed
    }
    return Outcome(
      status: process.terminationStatus, output: String(decoding: printed, as: UTF8.self),
      complaints: try String(contentsOf: complaints, encoding: .utf8))
  }

  /// Whether a command is installed.
  static func has(_ command: String) -> Bool {
    do {
      return try attempt("command -v \(command)", in: "/").status == 0
    } catch {
      return false
    }
  }
}
