import Foundation
import Larder
import Synchronization

/// The program of `Tests/Servers/adapters`: `check DIRECTORY ORIGIN` drives each adapter of the
/// guide InAServer, `serve DIRECTORY PORT` is a server with all that fit into one.
@main
struct Program {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 3, let verb = arguments.first else { exit(2) }
    let (directory, last) = (arguments[2], arguments[3])
    switch verb {
    case "check":
      let checks = Checks()
      try await checkPersistDriver(checks, in: "\(directory)/persist")
      try await checkServices(checks, in: "\(directory)/services")
      try await checkFileRegions(checks, in: "\(directory)/regions")
      try await checkDownloads(checks, in: "\(directory)/downloads", from: last)
      try await checkVaporCache(checks, in: "\(directory)/vapor")
      exit(checks.summary() ? 0 : 1)
    case "serve":
      guard let port = Int(last) else { exit(2) }
      try await serve(directory, port)
    default: exit(2)
    }
  }
}

/// What was checked.
final class Checks: Sendable {
  private let counts = Mutex((all: 0, failed: 0))

  /// Counts a check, and prints the law that it tests if it failed.
  func expect(_ law: String, _ isKept: Bool, _ found: Any? = nil) {
    counts.withLock { counts in
      counts.all += 1
      if !isKept { counts.failed += 1 }
    }
    if isKept { return }
    print("FAILED: \(law)\(found.map { ", but \($0)" } ?? "")")
  }

  /// Checks that a call throws an error.
  func expect<E: Error & Equatable>(
    _ law: String, throws error: E, _ call: () async throws -> Void
  ) async {
    do {
      try await call()
      expect(law, false, "it returned")
    } catch let thrown as E {
      expect(law, thrown == error, thrown)
    } catch {
      expect(law, false, error)
    }
  }

  /// Prints the counts, and returns whether all is well.
  func summary() -> Bool {
    let (all, failed) = counts.withLock { $0 }
    print("\(all) checks of the adapters, \(failed) failed")
    return failed == 0
  }
}
