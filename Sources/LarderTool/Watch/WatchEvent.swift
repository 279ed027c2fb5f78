import Larder

/// One thing that was seen to happen to an entry.
struct WatchEvent: Sendable {
  /// What it was.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A value came that was not there before.
    case stored
    /// A value took the place of an older one.
    case replaced
    /// The last access or the expiry was moved.
    case used
    /// The expiry passed, or was moved into the past.
    case expired
    /// What had expired was removed.
    case swept
    /// A value that was among the least recently used was removed.
    case evicted
    /// Another value was removed.
    case removed

    /// Its colour on a screen.
    var tone: TextTone {
      switch self {
      case .stored, .replaced: .green
      case .used: .plain
      case .expired, .swept: .yellow
      case .evicted: .red
      case .removed: .cyan
      }
    }
  }

  /// Counts from 1.
  let number: Int
  let kind: Kind
  /// The entry as it is, or as it was last seen.
  let entry: DiskEntry
  /// When it was noticed, which is up to a tenth of a second after it happened.
  let time: Timestamp
  /// The number of entries afterwards.
  let count: Int
  /// The bytes of all values afterwards.
  let byteCount: Int

  /// The line for a pipe.
  var line: String {
    "\(time.timeOfDayText)  \(kind.rawValue.padded(toWidth: 8))  "
      + "\(ByteCount(Int64(entry.byteCount)).description.aligned(toWidth: 10))  "
      + "\(entry.name)  \(entry.keyText)"
  }

  /// The object for scripts.
  var json: JSONValue {
    [
      "schema": 1, "time": .time(time), "event": .string(kind.rawValue), "entry": entry.json,
      "entries": JSONValue(count), "bytes": JSONValue(byteCount),
    ]
  }
}
