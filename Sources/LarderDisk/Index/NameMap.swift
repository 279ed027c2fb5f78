/// Values by entry name, in a table that grows by one name at a time.
///
/// For a map that can hold a name for every entry and is kept under the engine's lock. A dictionary
/// copies itself when it is full, which is a pause of a third of a second at a million names.
///
/// - Complexity: O(1), if nothing else is said.
struct NameMap<Value: Sendable>: Sendable {
  // Nil for a free slot.
  private var table = NameTable<Value?>()

  var isEmpty: Bool { table.count == 0 }

  /// The value of a name.
  subscript(name: EntryName) -> Value? {
    get {
      // The map is mostly empty, which shows without a hash. A closure here would copy the table.
      guard table.count > 0, let slot = table.slot(of: name) else { return nil }
      return table.records[slot]
    }
    set {
      if newValue == nil {
        removeValue(forKey: name)
      } else if let slot = table.slot(of: name) {
        table.records[slot] = newValue
      } else {
        _ = table.insert(name, newValue)
      }
    }
  }

  /// Forgets a name.
  ///
  /// - Returns: The value that it had.
  @discardableResult
  mutating func removeValue(forKey name: EntryName) -> Value? {
    guard table.count > 0, let slot = table.slot(of: name) else { return nil }
    table.remove(slot)
    return exchange(&table.records[slot], with: nil)
  }

  /// The number of slots, used or free. A name keeps its slot as long as it is in the map.
  var slotCount: Int { table.slotCount }

  /// The names in a range of slots.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>) -> [EntryName] { table.names(in: slots) { _ in true } }

  /// Takes the memory of an empty map that was large, to be given back outside of a lock.
  mutating func takeExcess() -> NameMap? {
    // The memory of fewer slots is not worth giving back.
    guard isEmpty, slotCount > 2048 else { return nil }
    return exchange(&self, with: NameMap())
  }
}
