extension NameTable {
  /// Whether slots are in the order of their names.
  func areInOrder(_ slots: [EntrySlot]) -> Bool {
    slots.indices.dropFirst().allSatisfy { name(of: slots[$0 - 1]) < name(of: slots[$0]) }
  }

  /// Slots in the order of their names.
  ///
  /// - Complexity: O(k log k). The names' first words decide almost always and are at hand.
  func inOrder(_ slots: [EntrySlot]) -> [EntrySlot] {
    var keyed = slots.map { (key: identities[$0].digest.high, slot: $0) }
    keyed.sort { $0.key == $1.key ? name(of: $0.slot) < name(of: $1.slot) : $0.key < $1.key }
    return keyed.map(\.slot)
  }
}
