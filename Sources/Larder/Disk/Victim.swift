/// An entry chosen to go, with what proves that its file is still the one that was chosen.
package struct Victim: Sendable, Hashable {
  let name: EntryName
  let inode: UInt64
  var changeTime: Timestamp
  let byteCount: UInt64
  let allocatedByteCount: UInt64
}
