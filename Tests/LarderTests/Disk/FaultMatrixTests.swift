import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Every system call that an operation makes fails once, in every plausible way.
@Suite(.serialized, .watched)
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

  // One failure at a time here; what needs two, or a thread of its own, is below.
  @Test(arguments: FaultTrial.Operation.allCases.filter { $0.beforehand.isEmpty && $0 != .watch })
  func `it is a miss or a clear error, and the directory stays right`(
    operation: FaultTrial.Operation
  ) async {
    // In a process of its own, where nobody else opens descriptors.
    await #expect(processExitsWith: .success) { [operation] in
      try Self.run(operation)
    }
  }

  @Test func `no call site is left out`() async throws {
    let listing = try CallSiteListing()
    let path = try TemporaryDirectory()
    let file = path.path + "/struck"
    await #expect(processExitsWith: .success) { [file = file as String] in
      try Self.strikeAll(reportingTo: file)
    }
    let struck = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    for site in listing.sites {
      let isExcused = CallSiteListing.excused[site.function] != nil
      #expect(struck.contains("\(site.place)") != isExcused, "\(site.place): \(site.function)")
    }
    #expect(!listing.sites.isEmpty)
  }

  /// Fails each kind of call in each operation, and all of its kind after it, so that what is tried
  /// instead fails as well.
  private static func strikeAll(reportingTo file: String) throws {
    var sites: Set<CallSite> = []
    let errnos: [Errno] = [.noSuchFile, .notSupported, .invalidArgument, .notPermitted, .noSpace]
    for operation in FaultTrial.Operation.allCases {
      for call in SystemCall.allCases {
        for errno in errnos {
          var isReached = false
          for (n, onwards) in [(1, true), (1, false), (2, true), (2, false)] {
            let trial = try FaultTrial(operation, call, .errno(errno))
            try trial.strike(
              at: n, onwards: onwards, "\(operation): \(call.rawValue) \(n): \(errno)")
            let struck = trial.scene.faults.struckSites
            if n == 1 { isReached = struck.count > operation.beforehand.count }
            sites.formUnion(struck)
          }
          if !isReached { break }
        }
      }
    }
    let lines = sites.map { "\($0.file):\($0.line)" }.sorted()
    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
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
    try eventually("the engines' ends, which close their files") { try openFiles().isEmpty }
  }

  /// The open descriptors that lead to a test's files.
  private static func openFiles() throws -> [String] {
    let root = try TemporaryRoot.path()
    let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return links.compactMap { link in
      // The descriptor of this very listing has gone by now.
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
    }.filter { $0.hasPrefix(root + "/") }
  }
}
