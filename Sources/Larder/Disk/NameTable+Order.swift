extension NameTable {
  /// Whether slots are in the order of their names.
  func areInOrder(_ slots: [EntrySlot]) -> Bool {
    slots.indices.dropFirst().allSatisfy { name(of: slots[$0 - 1]) < name(of: slots[$0]) }
  }

  /// Slots in the order of their names.
  ///
  /// - Complexity: O(k log k) for k slots.
  func inOrder(_ slots: [EntrySlot]) -> [EntrySlot] {
    guard slots.count > 1 else { return slots }
    // The sort compares names at hand: a closure that asks the table would copy it each time.
    let named = slots.map { (name: name(of: $0), slot: $0) }
    return named.sorted { $0.name < $1.name }.map(\.slot)
  }
}
