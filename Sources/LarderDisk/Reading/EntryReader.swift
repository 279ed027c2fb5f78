package import LarderBasics
package import LarderSystem

/// The purpose of a read.
package enum ReadPurpose: Sendable {
  /// The value's bytes.
  case value
  /// The value's bytes and the extended data.
  case valueAndData
  /// The open file, for a caller that reads it itself.
  case file
}

/// The opening and checking of an entry's file. It changes no state; the engine decides what a
/// result means for the index and the statistics.
package struct EntryReader: Sendable {
  package let trust: EntryTrust
  /// Whether the content is compared with its hash. False for a fixture, because its files are
  /// edited by hand and checked in.
  let checksContent: Bool
  /// Whether a file that does not prove its key is a miss.
  let requireProof: Bool

  /// Makes a reader that trusts the files of the present user and of the held directory's owner.
  init(_ configuration: DiskCache.Configuration, _ location: DirectoryLocation) {
    let isShared = configuration.sharesWithGroup
    trust = EntryTrust(
      user: ProcessIdentity.user,
      owners: { (location.handle.owner, isShared ? location.handle.group : nil) },
      enforcesExpiry: configuration.mode != .fixture, longest: configuration.longestEntry)
    checksContent = configuration.mode != .fixture
    requireProof = configuration.requireProof
  }

  /// Makes a reader for the entries of a fixture. It compares proofs and contents with the lines of
  /// the manifest, and refuses a file that is longer than a cache with the default limit holds.
  package init(forFixtureIn handle: DirectoryHandle) {
    trust = EntryTrust(
      user: ProcessIdentity.user, owners: { (handle.owner, nil) }, enforcesExpiry: false,
      longest: DiskCache.Configuration().longestEntry)
    checksContent = true
    requireProof = false
  }

  /// An open file, or the reason of the miss.
  package enum Opening: ~Copyable {
    case file(FileDescriptor, FileStatus)
    case missed(MissReason, Errno?)
  }

  /// What a file holds, checked against the key.
  package struct Testimony: Sendable {
    var attribute: EntryAttribute?
    /// The content; empty if it was not read.
    var content: [UInt8] = []
    /// The extended data; nil if it was not read.
    var extendedData: [UInt8]?
    var lifetime: Lifetime { attribute?.lifetime ?? .unknown }
    /// Whether there may be extended data.
    var hasData: Bool { extendedData?.isEmpty != true }
  }

  /// The result of checking a file.
  enum Examination: Sendable {
    case accepted(Testimony)
    case rejected(MissReason)
  }

  /// Opens the file of a name. Follows no link, waits for no FIFO, and moves no atime if allowed.
  ///
  /// A failure of this entry alone is a miss; what the caller must cure throws. See: man 2 open.
  package func open(_ name: FileName, in handle: DirectoryHandle) throws(CacheError) -> Opening {
    do throws(Errno) {
      // The status is taken from the descriptor, so that it belongs to the file that is read.
      let descriptor = try handle.openForReading(name)
      let status = try descriptor.status()
      return .file(descriptor, status)
    } catch {
      guard let reason = Self.missReason(for: error), Self.concernsOneEntry(error, in: handle)
      else { throw CacheError(errno: error, operation: "read", path: name.text) }
      return .missed(reason, error)
    }
  }

  /// Whether a failure to look at an entry concerns that entry alone. EACCES can concern the whole
  /// directory. The caller must cure that, and a lack of the process's own resources.
  static func concernsOneEntry(_ errno: Errno, in handle: DirectoryHandle) -> Bool {
    guard missReason(for: errno) != nil else { return false }
    guard errno == .permissionDenied else { return true }
    do throws(Errno) {
      _ = try handle.status(of: FileName("."))
      return true
    } catch {
      return error != .permissionDenied
    }
  }

  /// Returns the reason for which a failed read counts as a miss; nil if it is an error.
  package static func missReason(for errno: Errno) -> MissReason? {
    switch errno {
    case .noSuchFile: .absent
    // ELOOP comes from O_NOFOLLOW on a symbolic link, ENXIO from a socket. See: man 2 open.
    case .tooManyLinks, .noSuchDeviceOrAddress: .foreign
    // The process lacks resources, or has closed the cache: the caller can do something about it.
    case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .badDescriptor: nil
    default: .unreadable
    }
  }

  /// Returns the reason for which the failed read of a name's file counts as a miss.
  ///
  /// - Throws: A failure that the caller must cure.
  @discardableResult
  package static func missReason(
    for errno: Errno, of name: EntryName
  ) throws(CacheError) -> MissReason {
    if let reason = missReason(for: errno) { return reason }
    throw CacheError(errno: errno, operation: "read", path: name.description)
  }

  /// Reads `user.larder` and checks that the file can be the key's.
  func examine(
    _ file: borrowing FileDescriptor, _ status: FileStatus, _ key: CacheKey
  ) throws(Errno) -> Examination {
    let reading = try attributeReading(of: file)
    let isRemnant =
      reading == nil && checksContent && !requireProof ? try isRemnant(file, status) : false
    if let reason = missReason(for: reading, isRemnant: isRemnant, key) { return .rejected(reason) }
    return .accepted(Testimony(attribute: reading?.attribute))
  }

  /// Reads what a purpose needs of a file whose status is fine, and checks attributes and content.
  ///
  /// - Parameters:
  ///   - check: What an earlier check has shown of this state of the file, so that none is needed.
  ///   - bytes: The content, if it has been read.
  func read(
    _ file: borrowing FileDescriptor, _ status: FileStatus, _ key: CacheKey,
    _ purpose: ReadPurpose, checkedBefore check: FileCheck? = nil, _ bytes: [UInt8]? = nil
  ) throws(Errno) -> Examination {
    var testimony = Testimony()
    if check == nil {
      switch try examine(file, status, key) {
      case .accepted(let accepted): testimony = accepted
      case .rejected(let reason): return .rejected(reason)
      }
    }
    if purpose != .value && check?.hasData != false {
      testimony.extendedData = try Self.extendedData(of: file)
    }
    let mustCheck = check == nil && checksContent
    if purpose == .file {
      if mustCheck, try !Self.matches(file, &testimony) { return .rejected(.damaged) }
      return .accepted(testimony)
    }
    // A sparse file can have any length, and asking for too much memory would end the process.
    guard SystemEnvironment.mayHold(status.byteCount) else { throw .noMemory }
    let content = if let bytes { bytes } else { try file.read(upTo: Int(status.byteCount)) }
    guard content.count == Int(status.byteCount) else { return .rejected(.damaged) }
    // Checked anew if the file was stamped, or written to in place, since its status was read.
    if check != nil, try file.status().change != status.change {
      return try read(file, status, key, purpose, content)
    }
    if mustCheck, try !Self.matches(file, &testimony, content) { return .rejected(.damaged) }
    testimony.content = content
    return .accepted(testimony)
  }

  /// Returns the reason for which a file with this attribute is not the key's; nil if it can be.
  ///
  /// - Parameter isRemnant: Whether a file without an attribute is the rest of a value.
  func missReason(
    for reading: EntryAttribute.Reading?, isRemnant: Bool, _ key: CacheKey
  ) -> MissReason? {
    switch reading {
    case .otherVersion: return .otherVersion
    case .malformed where checksContent: return .damaged
    case .malformed, nil:
      if requireProof { return .unproven }
      return isRemnant && checksContent ? .damaged : nil
    case .attribute(let attribute):
      // The proof comes before the content: an intact file of another key must not be removed.
      if requireProof && attribute.proof == .none { return .unproven }
      return key.withBytes(attribute.proof.admits) ? nil : .otherKey
    }
  }

  /// Whether a file without `user.larder` is the remnant of a value after a power cut or `e2fsck`.
  ///
  /// A file with extended data is one, because every store writes `user.larder` as well. An empty
  /// file is one if the file system has attributes, because an empty value would have `user.larder`
  /// there; without attributes the content is on the disk before the file gets its name. A file
  /// without any attribute can be one that a person made.
  package func isRemnant(
    _ file: borrowing FileDescriptor, _ status: FileStatus
  ) throws(Errno) -> Bool {
    if try Self.data(of: file) != nil { return true }
    return status.byteCount == 0 ? try file.holdsAttributes() : false
  }

  /// Reads `user.larder`; nil if there is none.
  package func attributeReading(of file: borrowing FileDescriptor) throws(Errno) -> EntryAttribute
    .Reading?
  {
    do throws(Errno) {
      var reading: EntryAttribute.Reading?
      try file.withAttribute(.entry) { reading = EntryAttribute.read($0) }
      return reading
    } catch .rangeTooSmall {
      // The attribute is longer than any of this version.
      return .otherVersion
    }
  }

  /// Reads `user.larder.data`; empty if there is none.
  package static func extendedData(of file: borrowing FileDescriptor) throws(Errno) -> [UInt8] {
    try data(of: file) ?? []
  }

  /// Reads `user.larder.data`; nil if there is none, empty if it is longer than can be stored.
  private static func data(of file: borrowing FileDescriptor) throws(Errno) -> [UInt8]? {
    do throws(Errno) {
      var bytes: [UInt8]?
      try file.withAttribute(.data) { bytes = [UInt8](copying: $0) }
      return bytes
    } catch .rangeTooSmall {
      return []
    }
  }
}

extension CacheKey {
  /// A tag that distinguishes the key of a verified entry from another with the same MD5: 32 bits
  /// of the process's own seeded hash, which cannot be computed outside of the process.
  var tag: UInt32 { UInt32(truncatingIfNeeded: hashValue) }
}

/// The rules by which a file's status alone decides whether an entry can be served. They apply in
/// the order of the format: type, owner, length, expiry. Checks of the content come after.
package struct EntryTrust: Sendable {
  /// The effective user when the directory was opened.
  let user: UInt32
  /// Returns the owner of the directory that is held now, and its group if it is shared with that.
  let owners: @Sendable () -> (user: UInt32, group: UInt32?)
  /// Whether the expiry counts. False for a fixture, because its stamps are those of its checkout.
  let enforcesExpiry: Bool
  /// The longest file that can have been stored under the limit; nil for any.
  // A sparse file of any length is planted in no time. Without a limit it would be read in full.
  var longest: UInt64?

  /// Returns the reason why a file cannot be served; nil if there is none.
  ///
  /// - Parameter pending: The expiry that an extension will write, if one is under way.
  package func missReason(
    for status: FileStatus, pending: Timestamp?, now: Timestamp
  ) -> MissReason? {
    if !status.isRegular { return .foreign }
    // The owner comes before the expiry, because nothing that an untrusted user set is used.
    if !isTrusted(status) { return .otherOwner }
    if let longest, status.byteCount > longest { return .oversized }
    let expiry = max(status.modification.asExpiry, pending ?? Timestamp(seconds: .min))
    return hasExpired(expiry, at: now) ? .expired : nil
  }

  /// Whether an expiry counts as past.
  package func hasExpired(_ expiry: Timestamp, at now: Timestamp) -> Bool {
    enforcesExpiry && expiry.hasCome(at: now)
  }

  /// Whether the owner or the group of a file is trusted, so that it counts as an entry.
  package func isTrusted(_ status: FileStatus) -> Bool {
    if status.owner == user || status.owner == 0 { return true }
    let directory = owners()
    return status.owner == directory.user || status.group == directory.group
  }

  /// Makes an index entry of the file that has a name now; nil if it is not an entry's.
  func entry(_ name: EntryName, _ status: FileStatus) -> IndexedEntry? {
    status.isRegular && isTrusted(status) ? IndexedEntry(name: name, status: status) : nil
  }
}

/// The reason why a read found nothing.
@nonexhaustive
public enum MissReason: String, Sendable, Hashable, CaseIterable {
  /// There is no file of that name.
  case absent
  /// The expiry is past.
  case expired
  /// The content does not match its hash, or the attribute is malformed, or the file is empty
  /// although nothing says that it should be. The file is removed in the background, except in a
  /// cache that only reads and on a network file system: there it may be whole, and this machine's
  /// view of it out of date.
  case damaged
  /// The file was proven to hold the value of another key with the same MD5.
  case otherKey
  /// The file was written by another version of the format.
  case otherVersion
  /// Something that is not a regular file has the name.
  case foreign
  /// The file belongs to a user that is not trusted here.
  case otherOwner
  /// The file is longer than the size limit, so it was not stored under that limit. It is not read,
  /// and stays until it is evicted or its key is stored again.
  case oversized
  /// The file does not prove its key, and the configuration asks for proof.
  case unproven
  /// The file could not be read: EACCES, EIO, ESTALE, ENOTCONN, ESHUTDOWN and the like.
  case unreadable
  /// The bytes are those that were stored, but the caller's coder cannot decode them. Counted in
  /// addition to the hit on disk.
  case undecodable
}
