#if LARDER_SCHEDULES
  public import Synchronization

  /// A replacement for the standard library's atomics in builds for the schedule explorer.
  ///
  /// Relaxed loads are no points, because their order does not matter.
  @usableFromInline
  package struct Atomic<Value: Sendable>: ~Copyable, Sendable {
    private let value: Synchronization.Mutex<Value>
    private let object = Scheduler.makeObject()

    @usableFromInline
    package init(_ value: Value) {
      self.value = Synchronization.Mutex(value)
    }

    @usableFromInline
    package func load(
      ordering: AtomicLoadOrdering, file: StaticString = #fileID, line: Int = #line
    ) -> Value {
      if ordering != .relaxed { Scheduler.point(.load, on: object, file: file, line: line) }
      let read = value.withLock { $0 }
      if ordering != .relaxed { Scheduler.note("reads \(read)") }
      return read
    }

    @usableFromInline
    package func store(
      _ desired: Value, ordering: AtomicStoreOrdering, file: StaticString = #fileID,
      line: Int = #line
    ) {
      Scheduler.point(.change, on: object, file: file, line: line)
      value.withLock { $0 = desired }
    }

    @usableFromInline
    package func exchange(
      _ desired: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
      line: Int = #line
    ) -> Value {
      Scheduler.point(.change, on: object, file: file, line: line)
      return value.withLock { value in
        defer { value = desired }
        return value
      }
    }
  }

  extension Atomic where Value: Equatable {
    @usableFromInline
    package func compareExchange(
      expected: Value, desired: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: Int = #line
    ) -> (exchanged: Bool, original: Value) {
      Scheduler.point(.change, on: object, file: file, line: line)
      return value.withLock { value in
        let original = value
        if original == expected { value = desired }
        return (original == expected, original)
      }
    }
  }

  extension Atomic where Value: FixedWidthInteger {
    @discardableResult
    package func wrappingAdd(
      _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
      line: Int = #line
    ) -> (oldValue: Value, newValue: Value) {
      update(file, line) { $0 &+ operand }
    }

    private func update(
      _ file: StaticString, _ line: Int, _ change: (Value) -> Value
    ) -> (oldValue: Value, newValue: Value) {
      Scheduler.point(.change, on: object, file: file, line: line)
      return value.withLock { value in
        let old = value
        value = change(old)
        return (old, value)
      }
    }

    @discardableResult
    package func add(
      _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
      line: Int = #line
    ) -> (oldValue: Value, newValue: Value) {
      wrappingAdd(operand, ordering: ordering, file: file, line: line)
    }

    @discardableResult
    package func wrappingSubtract(
      _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
      line: Int = #line
    ) -> (oldValue: Value, newValue: Value) {
      wrappingAdd(0 &- operand, ordering: ordering, file: file, line: line)
    }

    package func max(
      _ operand: Value, ordering: AtomicUpdateOrdering, file: StaticString = #fileID,
      line: Int = #line
    ) -> (oldValue: Value, newValue: Value) {
      update(file, line) { Swift.max($0, operand) }
    }
  }

  /// A replacement for the system's randomness. Each generator returns the same numbers, so that
  /// the order in which generators are used does not matter.
  package struct SystemRandomNumberGenerator: RandomNumberGenerator {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init() {}

    package mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return word ^ (word >> 31)
    }
  }

  extension Double {
    /// Returns a number that depends on the number of points passed.
    package static func random(in range: Range<Double>) -> Double {
      let share = Double(Scheduler.step &* 7_919 % 1_000) / 1_000
      return range.lowerBound + (range.upperBound - range.lowerBound) * share
    }
  }
#endif
