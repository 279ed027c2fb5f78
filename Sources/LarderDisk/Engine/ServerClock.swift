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

  /// The most by which the server's clock may be ahead of this machine's; nil before the server has
  /// shown its time.
  private var lead: Duration?

  /// Learns the lead from a file that got its change time from the server.
  ///
  /// A server that takes long makes the lead too large, so that values expire early by as much.
  /// With a time after the change the lead would be too small, and expired values would be served.
  ///
  /// - Parameters:
  ///   - modification: The modification time of the file. A change time that is the same is no time
  ///     of the server's clock.
  ///   - begin: A time before the change by this machine's clock.
  mutating func learn(change: Timestamp, modification: Timestamp, since begin: Timestamp) {
    guard change != modification else { return }
    // Without a fraction the server may have left it out, as MooseFS does.
    let latest = change.nanoseconds == 0 ? change.adding(seconds: 1) : change
    lead = latest.duration(since: begin)
  }

  /// Learns the lead from the status of such a file.
  mutating func learn(from status: FileStatus, since begin: Timestamp) {
    learn(change: status.change, modification: status.modification, since: begin)
  }

  /// Returns the time by which to judge an expiry.
  func time(toJudge expiry: Timestamp, at now: Timestamp) -> Timestamp {
    guard let lead else { return now }
    let distance = expiry.duration(since: now)
    guard distance <= Self.slack && distance >= .zero - Self.slack else { return now }
    return now.adding(lead)
  }
}
