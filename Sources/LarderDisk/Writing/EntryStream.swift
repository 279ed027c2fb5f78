public import LarderBasics
import LarderSystem

/// A stream that takes the bytes of a value as they come. The value is visible after the closure
/// that was given the stream returns, and never if the closure throws.
public struct EntryStream: ~Copyable, Sendable {
  var file: StagedFile
  private let limit: Int?
  private let path: String
  /// Evicts for a number of bytes and returns whether anything was freed.
  private let makeRoom: @Sendable (Int) -> Bool
  /// Whether room was made, which is tried once per value, because a disk that is full for another
  /// reason must not empty the cache piece by piece.
  private(set) var hasMadeRoom = false
  /// The first failure to write.
  private(set) var failure: CacheError?
  /// Whether more bytes came than the cache may hold. The rest is not kept.
  private(set) var isTooLarge = false

  init(
    _ file: consuming StagedFile, limit: Int?, path: String,
    makeRoom: @escaping @Sendable (Int) -> Bool
  ) {
    self.file = file
    self.limit = limit
    self.path = path
    self.makeRoom = makeRoom
  }

  /// The bytes written so far.
  public var byteCount: Int { file.byteCount }

  /// Adds bytes. Bytes beyond the cache's size limit are dropped, and the store is then rejected.
  ///
  /// - Throws: `CacheError`, when the file system fails or is full.
  /// - Complexity: O(bytes).
  public mutating func write(_ bytes: Span<UInt8>) throws(CacheError) {
    if let limit, byteCount + bytes.count > limit { isTooLarge = true }
    // Every write after a failed one fails alike, so that a closure which ignores one error does
    // not leave a gap in the value.
    if let failure { throw failure }
    if isTooLarge { return }
    do throws(CacheError) {
      try tryToWrite(bytes)
    } catch {
      failure = error
      throw error
    }
  }

  /// Writes bytes, and tries once more after an eviction if the disk was full.
  private mutating func tryToWrite(_ bytes: Span<UInt8>) throws(CacheError) {
    do throws(Errno) {
      try file.write(bytes)
    } catch {
      let failure = CacheError(errno: error, operation: "store", path: path)
      guard failure.code == .noSpace, !hasMadeRoom, makeRoom(bytes.count) else { throw failure }
      hasMadeRoom = true
      try tryToWrite(bytes)
    }
  }

  /// Copies the content of a file as the whole value.
  mutating func copyContent(of source: borrowing FileDescriptor) throws(CacheError) {
    do throws(Errno) {
      let length = Int(clamping: try source.status().byteCount)
      if let limit, length > limit {
        isTooLarge = true
        return
      }
      try file.copyContent(of: source)
    } catch {
      let failure = CacheError(errno: error, operation: "store", path: path)
      guard failure.code == .noSpace, !hasMadeRoom, makeRoom(file.byteCount) else { throw failure }
      hasMadeRoom = true
      try copyContent(of: source)
    }
    if let limit, byteCount > limit { isTooLarge = true }
  }

  /// Adds bytes.
  ///
  /// - Throws: `CacheError`, when the file system fails or is full.
  /// - Complexity: O(bytes).
  public mutating func write(_ bytes: [UInt8]) throws(CacheError) {
    try write(bytes.span)
  }
}
