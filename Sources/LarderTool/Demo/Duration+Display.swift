extension Duration {
  /// The length of time to three figures in a unit that suits it: `12.3 ms`, `0.482 us`.
  var measuredText: String {
    let nanoseconds = max(0, Int64(self / .nanoseconds(1)))
    switch nanoseconds {
    case ..<1000: return "\(nanoseconds) ns"
    case ..<1_000_000: return Self.text(nanoseconds, per: 1000, unit: "us")
    case ..<1_000_000_000: return Self.text(nanoseconds, per: 1_000_000, unit: "ms")
    default: return Self.text(nanoseconds, per: 1_000_000_000, unit: "s")
    }
  }

  /// Three figures, of which none before the point is dropped.
  private static func text(_ count: Int64, per unit: Int64, unit name: String) -> String {
    let whole = count / unit
    let decimals = whole >= 100 ? 0 : whole >= 10 ? 1 : 2
    let scale: Int64 = [1, 10, 100][decimals]
    let scaled = (count * scale + unit / 2) / unit
    guard decimals > 0 else { return "\(scaled) \(name)" }
    let digits = String(scaled % scale)
    let padding = String(repeating: "0", count: decimals - digits.count)
    return "\(scaled / scale).\(padding)\(digits) \(name)"
  }
}
