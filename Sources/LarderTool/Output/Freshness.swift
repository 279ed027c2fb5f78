import Larder

/// The distance of an entry from its expiry, shown in colour and in words.
enum Freshness: String, Sendable, Hashable, CaseIterable {
  /// The expiry is past.
  case expired
  /// Less than a tenth of the lifetime is left, or less than an hour if no lifetime is recorded or
  /// uses do not extend it.
  case soon
  /// Neither `expired` nor `soon`.
  case fresh
  /// The entry does not expire.
  case never

  /// Creates the freshness for an entry's expiry and lifetime.
  init(expiry: Timestamp?, lifetime: Expiration?, at now: Timestamp) {
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

  /// The colour.
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
  /// Returns the distance of the entry from its expiry.
  func freshness(at now: Timestamp) -> Freshness {
    Freshness(expiry: expiry, lifetime: lifetime, at: now)
  }

  /// Returns the expiry as a table cell in the colour of its freshness.
  func expiryCell(at now: Timestamp) -> TextTable.Cell {
    let freshness = freshness(at: now)
    let words = freshness == .expired ? "expired" : expiry?.relativeText(at: now) ?? "never"
    return TextTable.Cell(words, freshness.tone)
  }

  /// Returns the last access relative to now. One in the future counts as now.
  func useText(at now: Timestamp) -> String {
    min(lastAccess, now).relativeText(at: now)
  }

  /// The key for people, escaped, or three dots and the end of one that the file does not record.
  ///
  /// In a pipe the dots are ASCII, as everything of the tool's own is there.
  func keyText(_ style: TextStyle) -> String {
    if !isReadable { return "(unreadable)" }
    guard let key else { return keyHint.map { Self.hint($0, style) } ?? "(unknown)" }
    if key.byteCount == 0 { return "(empty)" }
    let text = key.bytes.escapedForDisplay
    // Escaped, so that no key looks like the end of another one.
    guard let first = text.unicodeScalars.first, text.hasPrefix("...") || first == "\u{2026}" else {
      return text
    }
    let code = String(first.value, radix: 16)
    return "\\u{\(code)}" + String(text.unicodeScalars.dropFirst())
  }

  /// The key for people where there is room for one column: the name if nothing of the key is
  /// known.
  func keyOrNameText(_ style: TextStyle) -> String {
    guard key == nil else { return keyText(style) }
    return keyHint == nil ? name : "\(name.prefix(8))  \(keyText(style))"
  }

  /// Returns a hint with the dots that the style allows.
  static func hint(_ hint: String, _ style: TextStyle) -> String {
    style.usesBlocks ? hint : "..." + String(hint.unicodeScalars.dropFirst())
  }
}
