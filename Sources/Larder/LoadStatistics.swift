/// The counters of a cache's loads by `value(forKey:orStore:)` and `value(forKey:orRevalidate:)`.
///
/// | counter | goes up when |
/// |---|---|
/// | `started` | a load began, for a caller or to refresh what was served expired |
/// | `succeeded`, `failed` | it ended with a value, or threw; one that was cancelled has failed |
/// | `unstored` | a loaded value could not be stored, for a full disk or a coder that threw; not one that was rejected, or came too late |
/// | `renewed` | a load said that the previous value is still good, and that got a new expiry |
/// | `joined` | a caller waited for a load that another had started |
/// | `servedStale` | a caller got a value past its expiry |
/// | `servedFailures` | a caller got the error of an earlier load |
/// | `time` | a load ended, by the time from its start |
public struct LoadStatistics: Sendable, Hashable {
  /// Loads that were started.
  public internal(set) var started = 0
  /// Loads that returned a value.
  public internal(set) var succeeded = 0
  /// Loads that threw, cancelled ones included.
  public internal(set) var failed = 0
  /// Loaded values that could not be stored; their callers got them all the same. A read-only cache
  /// does not try to store.
  public internal(set) var unstored = 0
  /// Previous values that got a new expiry because a load said `.notModified`.
  public internal(set) var renewed = 0
  /// Requests that waited for a load started by another request.
  public internal(set) var joined = 0
  /// Requests that were answered with a value past its expiry.
  public internal(set) var servedStale = 0
  /// Requests that were answered with the error of an earlier load.
  public internal(set) var servedFailures = 0
  /// The time that all loads took together.
  public internal(set) var time = Duration.zero
  /// The hits and misses of the disk tier by looks that `CacheStatistics.hitRate` leaves out.
  var repeatedHits = 0
  var repeatedMisses = 0
}
