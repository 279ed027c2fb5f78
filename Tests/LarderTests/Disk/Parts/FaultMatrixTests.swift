import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The failure of every system call of an operation, once and in every plausible way.
@Suite(.watched)
struct `When a system call fails` {}

extension `When a system call fails` {
  private typealias Operation = FaultTrial.Operation

  private static let told: [Errno] = [.noSpace, .ioError, .noSuchFile]
  private static let others: [Errno] = [
    .quotaExceeded, .readOnlyFileSystem, .permissionDenied, .notPermitted, .tooManyOpenFiles,
    .tooManyOpenFilesInSystem, .noMemory, .interrupted, .tooManyLinks, .nameTooLong, .staleHandle,
  ]

  /// The ways in which an operation's calls of a kind fail: with the errors that the library tells
  /// apart, and with every fifth of the others, another fifth for the next operation or kind.
  private static func faults(
    for call: SystemCall, of operation: Operation
  ) -> [FaultInjector.Fault] {
    let turn =
      (Operation.allCases.firstIndex(of: operation) ?? 0)
      + (SystemCall.allCases.firstIndex(of: call) ?? 0)
    let some = others.enumerated().filter { place, _ in (place + turn) % 5 == 0 || rounds(1) > 1 }
    let plain = (told + some.map(\.element)).map(FaultInjector.Fault.errno)
    return call == .read || call == .write ? plain + [.short(1), .short(3)] : plain
  }

  /// A share of the operations, for a process of its own, where no other test opens descriptors.
  /// There are several, for the processors, and not one for each operation, as a process takes
  /// half a second to start.
  private static let shares = Array(0..<4)

  private static func operations(of share: Int) -> [Operation] {
    Operation.allCases.enumerated().filter { $0.offset % shares.count == share }.map(\.element)
  }

  // One failure at a time. Operations that need two, or a thread of their own, are tested below.
  @Test(arguments: shares)
  func `it is a miss or a clear error, and the directory stays right`(share: Int) async {
    await #expect(processExitsWith: .success) { [share] in
      // Foundation opens files without O_CLOEXEC, so this process may have those that another test
      // had open when it started.
      let inherited = try Self.openFiles()
      for operation in Self.operations(of: share)
      where operation.beforehand.isEmpty && operation != .watch {
        try Self.run(operation)
        Watchdog.progress()
      }
      try Self.expectNoLeak(except: inherited)
    }
  }

  @Test func `no call site is left out`() async throws {
    let directory = try TemporaryDirectory()
    await withTaskGroup { group in
      for share in Self.shares {
        let file = "\(directory.path)/\(share)"
        group.addTask {
          await #expect(processExitsWith: .success) {
            [share = share as Int, file = file as String] in
            try Self.strikeAll(Self.operations(of: share), reportingTo: file)
          }
        }
      }
    }
    let struck = Set(
      try directory.names.flatMap {
        try String(contentsOfFile: "\(directory.path)/\($0)", encoding: .utf8).split(
          separator: "\n")
      })
    let listing = try CallSiteListing()
    for site in listing.sites {
      let isExcused = CallSiteListing.excused[site.function] != nil
      #expect(struck.contains("\(site.place)") != isExcused, "\(site.place): \(site.function)")
    }
    #expect(!listing.sites.isEmpty)
  }

  /// Lets each kind of call fail in each operation, and all later calls of the kind, so that
  /// fallbacks fail as well.
  private static func strikeAll(_ operations: [Operation], reportingTo file: String) throws {
    var sites: Set<CallSite> = []
    let errnos: [Errno] = [.noSuchFile, .notSupported, .invalidArgument, .notPermitted, .noSpace]
    for operation in operations {
      for call in try FaultTrial.calls(of: operation) {
        for errno in errnos {
          for (n, onwards) in [(1, true), (1, false), (2, true), (2, false)] {
            let trial = try FaultTrial(operation, call, .errno(errno))
            let comment: Comment = "\(operation): \(call.rawValue) \(n): \(errno)"
            let isStruck = try trial.strike(at: n, onwards: onwards, comment)
            sites.formUnion(trial.scene.faults.struckSites)
            if !isStruck { break }
          }
        }
      }
      Watchdog.progress()
    }
    let lines = sites.map { "\($0.file):\($0.line)" }.sorted()
    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
  }

  private static func run(_ operation: Operation) throws {
    var trialCount = 0
    for call in try FaultTrial.calls(of: operation) {
      // The number of calls up to a failure is the same whatever the failure is.
      var callCount = 99
      for fault in faults(for: call, of: operation) {
        var n = 1
        while n <= callCount {
          let comment: Comment = "\(operation): \(call.rawValue) \(n): \(fault)"
          do {
            guard try FaultTrial(operation, call, fault).fails(at: n, comment) else { break }
          } catch {
            Issue.record(error, comment)
          }
          n += 1
          trialCount += 1
        }
        callCount = n - 1
      }
    }
    #expect(trialCount > 0, "\(operation)")
  }

  /// Expects that no descriptor stays open. The upkeep's threads may hold an engine for a moment
  /// after it was closed.
  private static func expectNoLeak(except inherited: [String: String]) throws {
    var left: [String: String] = [:]
    do {
      try eventually("the engines' ends, which close their files") {
        // By number: an inherited file may be removed meanwhile, which changes its target.
        left = try openFiles().filter { inherited[$0.key] == nil }
        return left.isEmpty
      }
    } catch {
      // Recorded here, because an error that ends the process would not be shown.
      Issue.record(error, "\(left)")
    }
  }

  /// Returns the targets of the open descriptors of tests' files by the descriptors' numbers.
  private static func openFiles() throws -> [String: String] {
    let root = try TemporaryRoot.path()
    let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    var targets: [String: String] = [:]
    for link in links {
      // The descriptor of this listing itself is closed by now.
      targets[link] = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(link)")
    }
    return targets.filter { $0.value.hasPrefix(root + "/") }
  }
}
