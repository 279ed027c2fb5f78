/// Takes the bytes of a value as they come; what is written is seen by nobody before the closure that
/// was given the stream returns, and never if it throws.
public struct EntryStream: ~Copyable {
  var file: StagedFile
  private let limit: Int?
  private let path: String
  /// Whether more came than the cache may hold; the rest is not kept.
  private(set) var isTooLarge = false

  init(_ file: consuming StagedFile, limit: Int?, path: String) {
    self.file = file
    self.limit = limit
    self.path = path
  }

  /// The bytes written so far.
  public var byteCount: Int { file.byteCount }

  /// Adds bytes. What exceeds the cache's size limit is dropped, and the store is then rejected.
  ///
  /// - Throws: `CacheError`, when the file system fails or is full.
  public mutating func write(_ bytes: Span<UInt8>) throws(CacheError) {
    if let limit, byteCount + bytes.count > limit { isTooLarge = true }
    if isTooLarge { return }
    do throws(Errno) {
      try file.write(bytes)
    } catch {
      throw CacheError(error, operation: "store", path: path)
    }
  }

  /// Adds bytes.
  public mutating func write(_ bytes: [UInt8]) throws(CacheError) {
    try write(bytes.span)
  }
}
