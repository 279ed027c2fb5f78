package import LarderBasics
import LarderSystem

extension DiskCache {
  /// What is known of the entry of a name, expired or not, whether a read would serve it or not;
  /// nil where there is no file that can be an entry. Does not count as a use.
  ///
  /// - Complexity: O(1): reads status and attributes, not the content.
  package func entry(named name: EntryName) throws(CacheError) -> DiskEntry? {
    try checkUsable("entry")
    engine.followReplacement()
    return DiskEntry(try engine.look(at: name))
  }

  /// The hash of the content of a name's file, whatever its attribute says; nil where there is none
  /// that can be an entry or that can be read. Does not count as a use.
  ///
  /// For comparing two directories: equal hashes of equal lengths count as equal contents.
  ///
  /// - Complexity: O(bytes), in constant memory.
  package func contentHash(of name: EntryName) throws(CacheError) -> UInt64? {
    try checkUsable("contentHash")
    engine.followReplacement()
    switch try engine.reader.open(name.fileName, in: engine.location.handle) {
    case .missed: return nil
    case .file(let descriptor, let status):
      guard status.isRegular else { return nil }
      do throws(Errno) {
        return try EntryReader.hash(of: descriptor, [])
      } catch {
        guard EntryReader.missReason(for: error) == nil else { return nil }
        throw CacheError(readFailure: error, name: name.description)
      }
    }
  }
}
