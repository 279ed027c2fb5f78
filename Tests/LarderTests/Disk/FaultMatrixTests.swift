import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The failure of every system call of an operation, once and in every plausible way.
@Suite(.serialized, .watched)
struct `When a system call fails` {
  private static let errnos: [Errno] = [
    .noSpace, .quotaExceeded, .ioError, .readOnlyFileSystem, .permissionDenied, .notPermitted,
    .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .interrupted, .tooManyLinks,
    .nameTooLong, .staleHandle, .noSuchFile,
  ]

  /// The errors with which an operation's calls fail: those that the library tells apart, and every
  /// third of the others, another third for the next operation.
  private static func errnos(for operation: FaultTrial.Operation) -> [Errno] {
    let told: [Errno] = [.noSpace, .ioError, .noSuchFile]
    let turn = FaultTrial.Operation.allCases.firstIndex(of: operation) ?? 0
    return errnos.enumerated().filter { place, errno in
      told.contains(errno) || (place + turn) % 3 == 0 || rounds(1) > 1
    }.map(\.element)
  }

  private static func faults(
    for call: SystemCall, of operation: FaultTrial.Operation
  ) -> [FaultInjector.Fault] {
    let plain = errnos(for: operation).map(FaultInjector.Fault.errno)
    return call == .read || call == .write ? plain + [.short(1), .short(3)] : plain
  }

  // One failure at a time. Operations that need two, or a thread of their own, are tested below.
  @Test(arguments: FaultTrial.Operation.allCases.filter { $0.beforehand.isEmpty && $0 != .watch })
  func `it is a miss or a clear error, and the directory stays right`(
    operation: FaultTrial.Operation
  ) async {
    // In a process of its own, where no other test opens descriptors.
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

  /// Lets each kind of call fail in each operation, and all later calls of the kind, so that
  /// fallbacks fail as well.
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
    // Foundation opens files without O_CLOEXEC, so this process may have those that another test
    // had open when it started.
    let inherited = try openFiles()
    var trialCount = 0
    for call in SystemCall.allCases {
      for fault in faults(for: call, of: operation) {
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
    try expectNoLeak(except: inherited)
  }

  /// Expects that no descriptor stays open. The upkeep's threads may hold an engine for a moment
  /// after it was closed.
  private static func expectNoLeak(except inherited: Set<String>) throws {
    try eventually("the engines' ends, which close their files") {
      try openFiles().isSubset(of: inherited)
    }
  }

  /// Returns the targets of the open descriptors of tests' files.
  private static func openFiles() throws -> Set<String> {
    let root = try TemporaryRoot.path()
    let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let targets = links.compactMap { link in
      // The descriptor of this listing itself is closed by now.
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
    }
    return Set(targets.filter { $0.hasPrefix(root + "/") })
  }
}
