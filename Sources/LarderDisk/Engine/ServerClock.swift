import LarderSystem

/// What time it is for a file server whose clock is not ours.
///
/// On a network file system several machines judge the same expiries, each by its own clock. Close
/// to an expiry all of them go by the server's instead: by the change time that a file got which
/// was just written. Where the server takes that from the writer's machine (GlusterFS does),
/// machines agree only as well as their clocks do.
struct ServerClock: Sendable {
  /// How far apart machines' clocks are taken to be at most, and how close to an expiry the server
  /// is asked. Machines that keep time by NTP differ by milliseconds.
  static let slack = Duration.seconds(10)

  /// How far the server is ahead of our clock; nil before anything was written.
  private var lead: Duration?

  /// Learns from a file whose change time the server set at `now`.
  mutating func learn(_ change: Timestamp, at now: Timestamp) {
    lead = change.duration(since: now)
  }

  /// The time by which to judge an expiry.
  func time(toJudge expiry: Timestamp, at now: Timestamp) -> Timestamp {
    guard let lead else { return now }
    let distance = expiry.duration(since: now)
    guard distance <= Self.slack && distance >= .zero - Self.slack else { return now }
    return now.adding(lead)
  }
}
