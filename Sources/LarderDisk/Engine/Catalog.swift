import LarderBasics
import LarderSystem

/// What this process knows of the files in the directory, by the names of entries.
///
/// 1. `index`: the entries.
/// 2. `uses`: the uses of entries that are still to be stamped on the disk.
/// 3. `scans`: the scans that compare all this with the directory.
///
/// The functions here keep the parts in step: a use is pending only of an entry.
struct Catalog: Sendable {
  var index = EntryIndex()
  var uses = UseLog()
  var scans = ScanLog()

  /// Makes a file that was just put under its name, or stamped to become one, the entry of the
  /// name.
  ///
  /// - Returns: Whether there was an entry.
  mutating func adopt(_ entry: IndexedEntry, order: EntryIndex.Placement) -> Bool {
    uses.take(entry.name)
    return index.upsert(entry, order: order)
  }

  /// Forgets everything of a name whose file is gone.
  mutating func remove(_ name: EntryName) {
    uses.take(name)
    index.remove(name)
  }

  /// Notes that this process has stamped a name's file, if it is still the file that is known.
  ///
  /// The file is no longer verified, even if nothing seems to have changed: it may have been edited
  /// between the look at it and the stamp, which moved the change time again.
  ///
  /// - Returns: Whether the file had changed since the index learned of it.
  @discardableResult
  mutating func restamp(_ name: EntryName, from status: FileStatus, to fresh: FileStatus) -> Bool {
    // A different inode: the file was replaced, and the stamp was for the one before.
    guard let known = index.entry(named: name), known.inode == fresh.inode else { return false }
    let isChanged = PackedTime(known.changeTime) != PackedTime(status.change)
    index.upsert(
      IndexedEntry(name: name, status: fresh, lastAccess: isChanged ? nil : known.lastAccess),
      order: .byLastAccess)
    return isChanged
  }

  /// Notes a use of a file in the state that the index has.
  ///
  /// - Parameters:
  ///   - isDue: Whether the use has to reach the disk and waits for a drain.
  ///   - extended: The expiry to which the use extends, if it is due.
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written.
  mutating func use(
    _ slot: EntrySlot, of name: EntryName, _ status: FileStatus, at access: Timestamp,
    isDue: Bool, extended: @autoclosure () -> Timestamp?
  ) -> Timestamp {
    let stored = status.modification.asExpiry
    index.use(slot, at: access)
    // Most uses extend nothing, and extensions by earlier uses are in the index already.
    guard isDue || !uses.isEmpty else { return stored }
    if isDue { uses.note(name, status, access: access, expiry: extended()) }
    let expiry = max(stored, uses.expiry(of: name, status) ?? stored)
    index.setExpiry(expiry, of: slot)
    return expiry
  }

  /// Forgets all entries and their uses, and gives up a scan that is going on.
  mutating func removeAll() {
    index = EntryIndex()
    scans.giveUp()
    uses.forgetAll()
  }
}
