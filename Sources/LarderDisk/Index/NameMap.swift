/// Values by entry name, in a table that grows by one name at a time.
///
/// For a map that can hold a name for every entry and is kept under the engine's lock. A dictionary
/// copies itself when it is full, which is a pause of a third of a second at a million names.
///
/// - Complexity: O(1), if nothing else is said.
struct NameMap<Value: Sendable>: Sendable {
  private var names = NameTable()
  // The values, under the slots of their names; nil for a free slot.
  private var values = ChunkedArray<Value?>()

  var isEmpty: Bool { names.count == 0 }

  /// The value of a name.
  subscript(name: EntryName) -> Value? {
    get {
      // The map is mostly empty, which shows without a hash. A closure here would copy the table.
      guard names.count > 0, let slot = names.slot(of: name) else { return nil }
      return values[slot]
    }
    set {
      guard let newValue else {
        removeValue(forKey: name)
        return
      }
      values.put(newValue, at: names.slot(of: name) ?? names.insert(name))
    }
  }

  /// Forgets a name.
  ///
  /// - Returns: The value that it had.
  @discardableResult
  mutating func removeValue(forKey name: EntryName) -> Value? {
    guard names.count > 0, let slot = names.slot(of: name) else { return nil }
    let value = values[slot]
    values[slot] = nil
    names.remove(slot)
    return value
  }

  /// The number of slots, used or free. A name keeps its slot as long as it is in the map.
  var slotCount: Int { values.count }

  /// The names in a range of slots.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>) -> [EntryName] { names.names(in: slots) { _ in true } }

  /// Takes the memory of an empty map that was large, to be given back outside of a lock.
  mutating func takeExcess() -> NameMap? {
    guard isEmpty, slotCount > NameTable.smallCount else { return nil }
    defer { self = NameMap() }
    return self
  }
}
