import LarderBasics
package import LarderSystem

/// The rules by which a file's status alone decides whether an entry can be served. They apply in
/// the order of the format: type, owner, length, expiry. Checks of the content come after.
package struct EntryTrust: Sendable {
  /// The effective user when the directory was opened.
  let user: UInt32
  let directoryOwner: UInt32
  /// The group that is trusted too; nil unless the directory is shared with a group.
  let group: UInt32?
  /// Whether the expiry counts. False for a fixture, because its stamps are those of its checkout.
  let enforcesExpiry: Bool
  /// The longest file that can have been stored under the limit; nil for any.
  // A sparse file of any length is planted in no time. Without a limit it would be read in full.
  var longest: UInt64?

  /// Returns the reason why a file cannot be served; nil if there is none.
  ///
  /// - Parameter pending: The expiry that an extension will write, if one is under way.
  package func objection(to status: FileStatus, pending: Timestamp?, now: Timestamp) -> MissReason?
  {
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
    status.owner == user || status.owner == directoryOwner || status.owner == 0
      || status.group == group
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
  /// although nothing says that it should be. The file is removed in the background, except on a
  /// network file system: there it may be whole, and this machine's view of it out of date.
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

/// The clock of a file server, which may differ from this machine's.
///
/// On a network file system several machines judge the same expiries, each by its own clock. Close
/// to an expiry, all of them use the server's clock instead, which shows in the change time of a
/// file that was just written. If the server takes that time from the writing machine, as GlusterFS
/// does, machines agree only as well as their clocks do.
///
/// CephFS shows the later of a file's change time and modification time as the change time. An
/// entry's modification time is its expiry, so it hides the server's time there.
struct ServerClock: Sendable {
  /// The largest difference that is assumed between machines' clocks. The server's clock is used
  /// this close to an expiry. Machines that keep time by NTP differ by milliseconds.
  static let slack = Duration.seconds(10)

  /// The most by which the server's clock may be ahead of this machine's; nil before the server has
  /// shown its time.
  private var lead: Duration?

  /// Learns the lead from the status of a file that got its change time from the server.
  ///
  /// A server that takes long makes the lead too large, so that values expire early by as much.
  /// With a time after the change the lead would be too small, and expired values would be served.
  ///
  /// - Parameter begin: A time before the change by this machine's clock.
  mutating func learn(from status: FileStatus, since begin: Timestamp) {
    let change = status.change
    // A change time that is the modification time is no time of the server's clock.
    guard change != status.modification else { return }
    // Without a fraction the server may have left it out, as MooseFS does.
    let latest = change.nanoseconds == 0 ? change.adding(seconds: 1) : change
    lead = latest.duration(since: begin)
  }

  /// Returns the time by which to judge an expiry.
  func time(toJudge expiry: Timestamp, at now: Timestamp) -> Timestamp {
    guard let lead else { return now }
    let distance = expiry.duration(since: now)
    guard distance <= Self.slack && distance >= .zero - Self.slack else { return now }
    return now.adding(lead)
  }
}
