import Larder

extension Call {
  /// Returns all entries of a cache, and shows the progress on a terminal. Of a fixture, keys are
  /// those of its manifest.
  func entries(of cache: DiskCache, _ directory: [UInt8]? = nil) throws(Failure) -> [DiskEntry] {
    let progress = ProgressLine("read", console)
    defer { progress.finish() }
    let entries = try onCache(directory) { () throws(CacheError) in
      try cache.entries(reporting: progress.update)
    }
    return fixtureCopy.map { entries.map($0.entry) } ?? entries
  }

  /// Returns all entries of a cache; nil if the user has asked to end meanwhile, because a listing
  /// of a slow disk can take minutes.
  func entries(
    of cache: DiskCache, unlessEndedBy keyboard: borrowing Keyboard
  ) throws(Failure) -> [DiskEntry]? {
    let listing = startListing(cache)
    defer { listing?.progress.finish() }
    // Without another thread the keys wait for the end of the listing.
    guard let listing else { return try entries(of: cache) }
    while true {
      if let entries = try entries(of: listing) { return entries }
      if keyboard.asksToEnd(within: .milliseconds(20)) { return nil }
    }
  }

  /// Starts to list all entries on another thread, and shows the progress; nil if there can be no
  /// other thread.
  func startListing(_ cache: DiskCache) -> Listing? {
    let listing = Listing(ProgressLine("read", console))
    do throws(Errno) {
      try startThread { listing.run(cache) }
      return listing
    } catch {
      listing.progress.finish()
      return nil
    }
  }

  /// Returns the entries; nil if they are not all there yet.
  func entries(of listing: Listing) throws(Failure) -> [DiskEntry]? {
    try onCache { () throws(CacheError) -> [DiskEntry]? in try listing.entries() }
  }
}

/// A listing that another thread makes.
final class Listing: Sendable {
  /// The progress of the listing.
  let progress: ProgressLine
  private let result = ForkSafeMutex<Result<[DiskEntry], CacheError>?>(nil)

  fileprivate init(_ progress: ProgressLine) {
    self.progress = progress
  }

  /// Makes the listing.
  fileprivate func run(_ cache: DiskCache) {
    let result = Result { () throws(CacheError) in
      try cache.entries(reporting: progress.update)
    }
    self.result.withLock { $0 = result }
  }

  /// Returns the entries; nil if they are not all there yet.
  fileprivate func entries() throws(CacheError) -> [DiskEntry]? {
    try result.withLock(\.self)?.get()
  }
}
