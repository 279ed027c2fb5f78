import Foundation
import LarderTestSupport
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// A trial of one operation with one failure, and the checks after it.
struct FaultTrial {
  /// The operation that meets the failure.
  enum Operation: String, CaseIterable, Sendable, Codable {
    case open, store, replace, replaceKnown, storeIfAbsent, stream, storeFile
    case value, read, file, drain, remove, removeAll, trim, scan, verify
    /// A store with an eviction, because of the bytes and of the disk's free space.
    case evict
    /// A store in a directory that a group shares.
    case share
    /// A store after the directory was removed.
    case remake
    /// The creation of the directory and its parents.
    case make
    case stamp, close
    /// A scan with a watching thread.
    case watch
    /// `storeIfAbsent` on a file system with neither unnamed files nor exclusive renames.
    case storeIfAbsentPlainly
    /// A stream with a failing write, so that the file is cut back.
    case cutStream
    /// Operations on a network file system.
    case storeRemotely, valueRemotely, fileRemotely, askRemotely

    /// The calls that always fail, so that their fallbacks can fail.
    var beforehand: [(call: SystemCall, errno: Errno)] {
      switch self {
      case .storeIfAbsentPlainly: [(.openat, .notSupported), (.renameat, .invalidArgument)]
      case .cutStream: [(.write, .ioError)]
      default: []
      }
    }

    /// The simulated file system of the directory.
    fileprivate var fileSystem: FileSystemKind? {
      switch self {
      case .storeRemotely, .valueRemotely, .fileRemotely, .askRemotely:
        FileSystemKind(name: "nfs", isNetwork: true)
      default: nil
      }
    }
  }

  static let old = Array("the old value".utf8)
  static let new = Array("another, newer value".utf8)
  static let bystander = Array("the neighbour's value".utf8)

  let operation: Operation
  let call: SystemCall
  let fault: FaultInjector.Fault
  let scene: DiskScene
  /// Whether there is an older value under the key.
  var hasOld: Bool {
    switch operation {
    case .store, .storeIfAbsent, .storeIfAbsentPlainly, .stream, .storeFile, .cutStream, .remake,
      .make, .storeRemotely:
      false
    default: true
    }
  }

  init(_ operation: Operation, _ call: SystemCall, _ fault: FaultInjector.Fault) throws {
    self.operation = operation
    self.call = call
    self.fault = fault
    scene = try DiskScene()
  }

  /// The outcome of the operation.
  struct Outcome {
    var error: CacheError?
    var stored: StoreOutcome?
    var value: [UInt8]?
    var isRemoved: Bool?
    var bulk: BulkRemoval?
  }

  private func open() throws -> DiskCache {
    // Only these two calls need durability, which is slow on a real disk.
    let isDurable = call == .fsync || call == .fdatasync
    return try scene.open {
      $0.durability = isDurable ? .durable : .relaxed
      $0.sharesWithGroup = operation == .share
      $0.fileSystem = operation.fileSystem
      if operation == .watch { $0.coherence = .events }
      guard operation == .evict else { return }
      $0.sizeLimit = Self.old.count + Self.bystander.count + 1
      $0.trimTarget = 0.9
      $0.freeSpaceLimit = 1
    }
  }

  /// Lets the n-th call of the operation fail, and checks everything.
  ///
  /// - Returns: Whether there was an n-th call.
  func fails(at n: Int, _ comment: Comment) throws -> Bool {
    let (outcome, present, counts) = try run(at: n, comment)
    try check(outcome, present, comment)
    try present.close()
    try checkReopened(outcome, comment)
    return counts[call, default: 0] >= n
  }

  /// Lets the n-th call of its kind in the operation fail, or all from there, and checks that the
  /// directory can be used afterwards.
  ///
  /// - Returns: Whether there was an n-th call.
  func strike(at n: Int, onwards: Bool, _ comment: Comment) throws -> Bool {
    let (_, present, counts) = try run(at: n, onwards: onwards, comment)
    #expect(try present.store(Self.new, forKey: "after") == .stored, comment)
    #expect(try present.value(forKey: "after") == Self.new, comment)
    try present.close()
    return counts[call, default: 0] >= n
  }

  /// Returns the kinds of calls that an operation makes when nothing fails but what always does.
  static func calls(of operation: Operation) throws -> [SystemCall] {
    // A thread of its own makes some of them, perhaps after the operation has returned.
    if operation == .watch { return SystemCall.allCases }
    var counts: [SystemCall: Int] = [:]
    // Without and with durability.
    for call in [SystemCall.read, .fsync] {
      let (_, cache, made) = try FaultTrial(operation, call, .before {}).run(at: 1, "nothing")
      try cache.close()
      counts.merge(made, uniquingKeysWith: +)
    }
    return SystemCall.allCases.filter { counts[$0, default: 0] > 0 }
  }

  /// Lets the n-th call of its kind fail, or all from there, and counts the operation's calls.
  private func run(
    at n: Int, onwards: Bool = false, _ comment: Comment
  ) throws -> (outcome: Outcome, cache: DiskCache, callCounts: [SystemCall: Int]) {
    var cache: DiskCache? = try prepared()
    if operation == .open || operation == .make {
      try cache?.close()
      cache = nil
    }
    if operation == .make || operation == .remake {
      try FileManager.default.removeItem(atPath: scene.path)
    }
    for (call, errno) in operation.beforehand { scene.faults.plan(.errno(errno), for: call) }
    scene.faults.plan(fault, for: call, at: n, onwards: onwards)
    let before = callCounts
    let outcome = act(&cache, comment)
    let made = callCounts.merging(before, uniquingKeysWith: -)
    scene.faults.reset()
    return (outcome, try cache ?? open(), made)
  }

  private var callCounts: [SystemCall: Int] {
    Dictionary(uniqueKeysWithValues: SystemCall.allCases.map { ($0, scene.faults.count(of: $0)) })
  }

  /// Returns a cache with the bystander and perhaps the old value, neither of which it has checked.
  private func prepared() throws -> DiskCache {
    let cache = try open()
    try cache.store(Self.bystander, forKey: "bystander")
    if hasOld { try cache.store(Self.old, forKey: "k", extendedData: [1]) }
    if operation == .replaceKnown { return cache }
    try cache.close()
    scene.clock.advance(by: .seconds(600))
    return try open()
  }

  private func act(_ cache: inout DiskCache?, _ comment: Comment) -> Outcome {
    var outcome = Outcome()
    do {
      if operation == .open || operation == .make { cache = try open() }
      if let cache { try act(cache, &outcome) }
    } catch let error as CacheError {
      outcome.error = error
    } catch {
      Issue.record(error, comment)
    }
    // The cache is closed even if `close` failed, so another one is opened for the checks.
    if operation == .close { cache = nil }
    return outcome
  }

  private func act(_ cache: DiskCache, _ outcome: inout Outcome) throws {
    switch operation {
    case .open, .make: break
    case .close:
      outcome.value = try cache.value(forKey: "k")
      try cache.close()
    case .stamp: _ = try cache.stamp(scene.name("k").text)
    case .store, .replace, .replaceKnown, .share, .remake, .storeRemotely:
      outcome.stored = try cache.store(Self.new, forKey: "k")
    case .evict:
      outcome.stored = try cache.store(Self.new, forKey: "k")
      // Waits for the scan and its consequences, so that they meet the failure too.
      _ = try cache.count()
      try cache.flush()
    case .storeIfAbsent, .storeIfAbsentPlainly:
      outcome.stored = try cache.storeIfAbsent(Self.new, forKey: "k")
    case .storeFile:
      let source = scene.directory.path + "/source"
      try Data(Self.new).write(to: URL(fileURLWithPath: source))
      outcome.stored = try cache.store(contentsOfFile: source, forKey: "k")
    case .stream, .cutStream:
      outcome.stored = try cache.store(forKey: "k") { stream in
        try stream.write([UInt8](Self.new.prefix(5)))
        try stream.write([UInt8](Self.new.dropFirst(5)))
      }
    case .value, .valueRemotely: outcome.value = try cache.value(forKey: "k")
    case .askRemotely:
      _ = try attempt("ask", at: nil, cache.engine.location.handle.descriptor.holdsAttributes())
    case .read: outcome.value = try cache.read(forKey: "k")?.value
    case .file, .fileRemotely:
      outcome.value = try cache.withFile(forKey: "k") { file in
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 5))
        while bytes.count < file.byteCount {
          let count = try file.read(into: &piece)
          bytes += piece.prefix(count)
        }
        return bytes
      }
    case .drain:
      outcome.value = try cache.value(forKey: "k")
      try cache.flush()
    case .remove: outcome.isRemoved = try cache.remove(forKey: "k")
    case .removeAll: outcome.bulk = try cache.removeAll()
    case .trim: outcome.bulk = try cache.trim(toCount: 0)
    case .scan: _ = try cache.count()
    case .watch:
      _ = try cache.count()
      // The watching thread may still be on its way to the call that is to fail.
      guard call == .inotify else { break }
      _ = Happening().wait(.seconds(2)) { !scene.faults.struckSites.isEmpty }
    case .verify: _ = try cache.verify()
    }
  }
}
