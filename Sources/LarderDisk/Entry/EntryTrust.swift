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
