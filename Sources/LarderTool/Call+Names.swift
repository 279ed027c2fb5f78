import Larder

extension Call {
  /// The names of keys' files: with the extension asked for, else the bare name if it is there,
  /// else the only one there is with another, else the bare name.
  func names(of keys: [CacheKey], in cache: DiskCache) throws(Failure) -> [EntryName] {
    if let wanted = arguments.fileExtension {
      return keys.map { EntryName($0, fileExtension: wanted) }
    }
    let found = try onCache { () throws(CacheError) in try cache.names(forKeys: keys) }
    var names: [EntryName] = []
    for (key, candidates) in zip(keys, found) {
      guard candidates.count <= 1 else { throw Self.ambiguous(candidates) }
      names.append(candidates.first ?? EntryName(key))
    }
    return names
  }

  private static func ambiguous(_ names: [EntryName]) -> Failure {
    let list = names.map(\.description).joined(separator: ", ")
    return .usage("the key has several files, \(list); say which with --ext")
  }
}
