import Larder

/// A change of an entry that was observed.
struct WatchEvent: Sendable {
  /// The kind of change.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A value was stored under a name that had none.
    case stored
    /// A value replaced an older one.
    case replaced
    /// The last access or the expiry was changed.
    case used
    /// The expiry passed, or was moved into the past.
    case expired
    /// An expired value was removed.
    case swept
    /// A value among the least recently used was removed.
    case evicted
    /// Another value was removed.
    case removed

    /// The colour on a terminal.
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

  /// The number of the event, from 1.
  let number: Int
  let kind: Kind
  /// The entry; if it was removed, as it was last seen.
  let entry: DiskEntry
  /// The time of the observation, up to a tenth of a second after the change.
  let time: Timestamp
  /// The number of entries after the event.
  let count: Int
  /// The bytes of all values together after the event.
  let byteCount: Int

  /// The line for a pipe.
  var line: String {
    "\(Timestamp(seconds: time.seconds).rfc3339)  \(kind.rawValue.padded(toWidth: 8))  "
      + "\(ByteCount(Int64(entry.byteCount)).description.aligned(toWidth: 10))  "
      + "\(entry.name)  \(entry.keyText(.plain))"
  }

  /// The object for scripts.
  var json: JSONValue {
    [
      "schema": 1, "time": .time(time), "event": .string(kind.rawValue), "entry": entry.json,
      "entries": JSONValue(count), "bytes": JSONValue(byteCount),
    ]
  }
}
