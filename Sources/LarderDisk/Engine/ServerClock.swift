import LarderSystem

/// The clock of a file server, which may differ from this machine's.
///
/// On a network file system several machines judge the same expiries, each by its own clock. Close
/// to an expiry, all of them use the server's clock instead, which shows in the change time of a
/// file that was just written. If the server takes that time from the writing machine, as GlusterFS
/// does, machines agree only as well as their clocks do.
///
/// CephFS shows the later of a file's change time and modification time as the change time. An
/// entry's modification time is its expiry, so it hides the server's time there.
struct ServerClock: Sendable {
  /// The largest difference that is assumed between machines' clocks. The server's clock is used
  /// this close to an expiry. Machines that keep time by NTP differ by milliseconds.
  static let slack = Duration.seconds(10)

  /// The lead of the server's clock over this machine's; nil before the server has shown its time.
  private var lead: Duration?

  /// Learns the lead from a file that got its change time from the server at `now`.
  ///
  /// - Parameter modification: The modification time of the file. A change time that is the same
  ///   is no time of the server's clock.
  mutating func learn(change: Timestamp, modification: Timestamp, at now: Timestamp) {
    guard change != modification else { return }
    lead = change.duration(since: now)
  }

  /// Learns the lead from the status of such a file.
  mutating func learn(from status: FileStatus, at now: Timestamp) {
    learn(change: status.change, modification: status.modification, at: now)
  }

  /// Returns the time by which to judge an expiry.
  func time(toJudge expiry: Timestamp, at now: Timestamp) -> Timestamp {
    guard let lead else { return now }
    let distance = expiry.duration(since: now)
    guard distance <= Self.slack && distance >= .zero - Self.slack else { return now }
    return now.adding(lead)
  }
}
