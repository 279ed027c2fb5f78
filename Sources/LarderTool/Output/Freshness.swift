import Larder

/// How far an entry is from its expiry, as colours show it; the words beside them say it too.
enum Freshness: String, Sendable, Hashable, CaseIterable {
  /// The expiry is past.
  case expired
  /// Less than a tenth of its lifetime is left, or less than an hour where no lifetime is recorded.
  case soon
  /// There is time.
  case fresh
  /// It does not expire.
  case never

  /// Judges by what an entry says.
  init(expiry: Timestamp?, lifetime: RecordedLifetime?, at now: Timestamp) {
    guard let expiry else {
      self = .never
      return
    }
    let left = expiry.duration(since: now)
    if left <= .zero {
      self = .expired
    } else if case .seconds(let lifetime)? = lifetime {
      self = left < .seconds(lifetime) / 10 ? .soon : .fresh
    } else {
      self = left < .seconds(3600) ? .soon : .fresh
    }
  }

  /// Its colour.
  var tone: TextTone {
    switch self {
    case .expired: .red
    case .soon: .yellow
    case .fresh: .green
    case .never: .cyan
    }
  }
}

extension DiskEntry {
  /// How far the entry is from its expiry.
  func freshness(at now: Timestamp) -> Freshness {
    Freshness(expiry: expiry, lifetime: lifetime, at: now)
  }

  /// The expiry as a cell: the words, in the colour of the freshness.
  func expiryCell(at now: Timestamp) -> TextTable.Cell {
    let freshness = freshness(at: now)
    let words = freshness == .expired ? "expired" : expiry?.relativeText(at: now) ?? "never"
    return TextTable.Cell(words, freshness.tone)
  }

  /// The last access as seen from now; one in the future counts as now.
  func useText(at now: Timestamp) -> String {
    min(lastAccess, now).relativeText(at: now)
  }

  /// The key as people see it, escaped.
  var keyText: String {
    if !isReadable { return "(unreadable)" }
    return key.map { $0.byteCount == 0 ? "(empty)" : $0.bytes.escapedForDisplay } ?? "(unknown)"
  }
}
