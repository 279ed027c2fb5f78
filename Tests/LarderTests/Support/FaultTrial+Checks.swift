import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

extension FaultTrial {
  /// Whether the failure says that an existing file is gone. Then the index believes it rightly,
  /// and only the directory is checked.
  private var isLie: Bool {
    guard case .errno(let errno) = fault else { return false }
    return errno == .noSuchFile || errno == .staleHandle
  }

  /// Returns the values that the key may have afterwards.
  private func allowed(_ outcome: Outcome) -> [[UInt8]?] {
    switch operation {
    case .open, .value, .read, .file, .drain, .scan, .verify, .stamp, .close, .watch,
      .valueRemotely, .fileRemotely, .askRemotely:
      [Self.old]
    case .make: [nil]
    case .store, .stream, .storeFile, .replace, .replaceKnown, .storeIfAbsent, .evict, .share,
      .remake, .storeIfAbsentPlainly, .cutStream, .storeRemotely:
      allowedAfterStore(outcome)
    case .remove:
      outcome.isRemoved == true ? [nil] : outcome.error == nil && !isLie ? [] : [nil, Self.old]
    case .removeAll, .trim:
      outcome.bulk?.removed == 2 && !isLie ? [nil] : [nil, Self.old]
    }
  }

  private func allowedAfterStore(_ outcome: Outcome) -> [[UInt8]?] {
    if outcome.stored == .stored { return [Self.new] }
    guard let error = outcome.error else { return [] }
    if operation == .storeIfAbsent || operation == .storeIfAbsentPlainly { return [nil] }
    return error.oldValueRemains ? [nil, Self.old] : [nil]
  }

  func check(_ outcome: Outcome, _ cache: DiskCache, _ comment: Comment) throws {
    if let error = outcome.error {
      #expect(error.description.contains(error.code.cure), comment)
      #expect(error.errno != .interrupted, comment)
    }
    if let value = outcome.value { #expect(value == Self.old, "wrong value: \(comment)") }
    if case .errno(.interrupted) = fault { #expect(outcome.error == nil, comment) }
    if case .short = fault { #expect(outcome.error == nil, comment) }
    let value = try cache.value(forKey: "k")
    #expect(allowed(outcome).contains(value), "\(comment): \(outcome), then \(value as Any)")
    if !isLie { try scene.expectConsistent(cache, comment) }
  }

  func checkReopened(_ outcome: Outcome, _ comment: Comment) throws {
    let cache = try scene.open()
    let value = try cache.value(forKey: "k")
    #expect(allowed(outcome).contains(value), "\(comment), reopened: \(value as Any)")
    var mayEvict = [.removeAll, .trim, .evict, .make, .remake].contains(operation)
    if case .errno(.noSpace) = fault { mayEvict = true }
    if case .errno(.quotaExceeded) = fault { mayEvict = true }
    if !mayEvict {
      #expect(try cache.value(forKey: "bystander") == Self.bystander, comment)
    }
    try scene.expectConsistent(cache, comment)
    try cache.close()
  }
}
