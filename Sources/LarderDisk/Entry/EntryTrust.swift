import LarderBasics
package import LarderSystem

/// Decides from a file's status alone whether an entry can be served, in the order of the format:
/// type, owner, length, expiry. What needs the file's content comes after.
package struct EntryTrust: Sendable {
  /// The effective user when the directory was opened.
  let user: UInt32
  let directoryOwner: UInt32
  /// The group whose files count too, in a directory shared with a group.
  let group: UInt32?
  /// False for a fixture, whose stamps are those of its checkout.
  let enforcesExpiry: Bool
  /// The longest file that can have been stored under the limit; nil for any.
  // A sparse file of any length is planted in no time; without a bound it would be read in full.
  var longest: UInt64?

  /// Why a file cannot be served, nil when nothing speaks against it.
  ///
  /// - Parameter pending: the expiry that an extension will write, if one is under way.
  package func objection(to status: FileStatus, pending: Timestamp?, now: Timestamp) -> MissReason?
  {
    if !status.isRegular { return .foreign }
    // Before the expiry: nothing that a stranger set is looked at.
    if !isTrusted(status) { return .otherOwner }
    if let longest, status.byteCount > longest { return .oversized }
    guard enforcesExpiry else { return nil }
    let expiry = max(status.modification.asExpiry, pending ?? Timestamp(seconds: .min))
    return expiry.hasCome(at: now) ? .expired : nil
  }

  /// Whether a file belongs to somebody whose files count as entries.
  func isTrusted(_ status: FileStatus) -> Bool {
    status.owner == user || status.owner == directoryOwner || status.owner == 0
      || status.group == group
  }
}

/// Why a read found nothing.
@nonexhaustive
public enum MissReason: String, Sendable, Hashable, CaseIterable {
  /// There is no file of that name.
  case absent
  /// The expiry is past.
  case expired
  /// The content does not match its hash, or the attribute is malformed, or the file is empty
  /// although nothing says that it should be. The file is removed in the background; not on a
  /// network file system, where it may be whole and what this machine knows of it out of date.
  case damaged
  /// The file was proven to hold the value of another key with the same MD5.
  case otherKey
  /// The file was written by another version of the format.
  case otherVersion
  /// Something that is not a regular file has the name.
  case foreign
  /// The file belongs to somebody whose files are not trusted here.
  case otherOwner
  /// The file is longer than the size limit, so that it was not stored under it. It is not read,
  /// and stays until it is evicted or its key is stored again.
  case oversized
  /// The file does not prove its key, and the configuration asks for proof; or it has no attribute,
  /// was not stored by this process, and is on a network file system that knows files by their
  /// paths, such as sshfs, where nothing else tells a whole file from one cut short.
  case unproven
  /// The file could not be read: EACCES, EIO, ESTALE, ENOTCONN and the like.
  case unreadable
  /// The bytes are those that were stored, and the caller's coder makes nothing of them. Counted
  /// beside the hit on disk.
  case undecodable
}
