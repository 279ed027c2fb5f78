/// The place of an entry in an index: the number under which all its parts are kept.
///
/// A slot stays the same as long as its entry is indexed, and may then be given to another one.
struct EntrySlot: Sendable, Hashable {
  let number: UInt32

  /// No slot.
  static let none = EntrySlot(number: .max)
}
