import Foundation
import Testing

@testable import Larder

/// Every system call that an operation makes fails once, in every plausible way.
@Suite(.timeLimit(.minutes(5)))
struct `When a system call fails` {
  private static let errnos: [Errno] = [
    .noSpace, .quotaExceeded, .ioError, .readOnlyFileSystem, .permissionDenied, .notPermitted,
    .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .interrupted, .tooManyLinks,
    .nameTooLong, .staleHandle, .noSuchFile,
  ]

  private static func faults(for call: SystemCall) -> [FaultInjector.Fault] {
    let plain = errnos.map(FaultInjector.Fault.errno)
    return call == .read || call == .write ? plain + [.short(1), .short(3)] : plain
  }

  @Test(arguments: FaultTrial.Operation.allCases)
  func `it is a miss or a clear error, and the directory stays right`(
    operation: FaultTrial.Operation
  ) async {
    // In a process of its own, where nobody else opens descriptors.
    await #expect(processExitsWith: .success) { [operation] in
      try Self.run(operation)
    }
  }

  private static func run(_ operation: FaultTrial.Operation) throws {
    var trialCount = 0
    for call in SystemCall.allCases {
      for fault in faults(for: call) {
        var n = 1
        while n < 100 {
          let comment: Comment = "\(operation): \(call.rawValue) \(n): \(fault)"
          do {
            guard try FaultTrial(operation, call, fault).fails(at: n, comment) else { break }
          } catch {
            Issue.record(error, comment)
          }
          n += 1
          trialCount += 1
        }
        if n == 1 { break }
      }
    }
    #expect(trialCount > 0)
    try expectNoLeak()
  }

  /// The upkeep's threads may hold an engine for a moment after it was closed.
  private static func expectNoLeak() throws {
    for _ in 0..<10_000 where try !openFiles().isEmpty { sched_yield() }
    #expect(try openFiles() == [])
  }

  /// The open descriptors that lead to a test's files.
  private static func openFiles() throws -> [String] {
    let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return links.compactMap { link in
      // The descriptor of this very listing has gone by now.
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
    }.filter { $0.contains("larder-tests") }
  }
}
