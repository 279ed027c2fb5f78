import Larder

/// A promise that is weaker on a file system than on a local disk with user attributes.
struct WeakerPromise: Sendable, Hashable {
  /// One word for it, for scripts.
  let name: String
  /// A description of what is left of the promise.
  let sentence: String

  private init(_ name: String, _ sentence: String) {
    (self.name, self.sentence) = (name, sentence)
  }

  static let coherence = WeakerPromise(
    "coherence",
    "what other machines do shows after the mount's time-out, in memory up to a minute later")
  static let memoryCoherence = WeakerPromise(
    "coherence", "what other machines do shows at once on the disk, in memory up to a minute later")
  static let limit = WeakerPromise(
    "limit", "what other machines store counts up to 30 s after this one's last store")
  static let exclusive = WeakerPromise(
    "exclusive", "opening exclusively is refused, because a lock does not keep other machines out")
  static let temporaries = WeakerPromise(
    "temporaries", "what a crash cut off in the middle of a write stays for an hour")
  static let lending = WeakerPromise(
    "lending", "a file that is open may end in an error once another machine replaces it")
  static let writing = WeakerPromise(
    "writing", "opening for writing is refused, because open files are found by their paths")
  static let access = WeakerPromise(
    "access",
    "the directory has no no-atime flag, as a copy: other programs' reads count as uses, until "
      + "chattr -R +A DIR")
  static let proof = WeakerPromise(
    "proof", "no user attributes: neither content nor key is checked, no extended data is held")
}

extension FileSystemKind {
  /// Returns the promises that are weaker on this file system.
  ///
  /// - Parameter hasAttributes: Whether files can have user attributes.
  func weakerPromises(hasAttributes: Bool) -> [WeakerPromise] {
    var promises: [WeakerPromise] = []
    if isNetwork {
      promises += [traits?.coherenceDelay == 0 ? .memoryCoherence : .coherence, .limit, .exclusive]
      if !sharesFileLocks { promises.append(.temporaries) }
      if traits?.keepsReplacedFiles != true { promises.append(.lending) }
    }
    if findsFilesByPath == true { promises.append(.writing) }
    if !hasAttributes { promises.append(.proof) }
    return promises
  }
}
