// The adapter of the guide InAServer for swift-metrics.
import Larder
import Metrics
import ServiceLifecycle

struct CacheMetrics<Value: Sendable>: Service {
  let cache: Cache<Value>
  let name: String
  var interval = Duration.seconds(15)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      repeat { await report() } while (try? await Task.sleep(for: interval)) != nil
      // Of the last interval, which the shutdown has cut short.
      await report()
    }
  }

  func report() async {
    let now = cache.statistics
    set("hits", now.hitCount)
    set("misses", now.missCount)
    set("memory_hits", now.memory.hits)
    set("disk_hits", now.disk.hits)
    set("disk_stores", now.disk.stores)
    set("disk_rejections", now.disk.rejections.values.reduce(0, +))
    set("disk_read_bytes", now.disk.bytesRead)
    set("disk_written_bytes", now.disk.bytesWritten)
    set("disk_evictions", now.disk.removals[.evicted] ?? 0)
    set("disk_errors", now.disk.errors.values.reduce(0, +))
    set("disk_upkeep_failures", now.disk.upkeepFailures.values.reduce(0, +))
    set("disk_lost_stores", now.disk.lostStores)
    set("disk_more_hits_at_double_limit", now.disk.moreHitsAtDoubleLimit)
    set("loads", now.loads.started)
    set("failed_loads", now.loads.failed)
    set("joins", now.loads.joined)
    set("served_stale", now.loads.servedStale)
    set("unstored", now.loads.unstored)
    gauge("load_seconds").record(now.loads.time / .seconds(1))
    if let byteCount = try? await cache.disk.totalSize() { set("disk_size_bytes", byteCount) }
    if let count = try? await cache.disk.count() { set("disk_entries", count) }
  }

  private func set(_ label: String, _ value: Int) { gauge(label).record(value) }

  private func gauge(_ label: String) -> Gauge {
    Gauge(label: "larder_\(label)", dimensions: [("cache", name)])
  }
}
