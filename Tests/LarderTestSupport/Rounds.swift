import Foundation

/// Returns the number of rounds of a test that repeats random operations: `count`, times
/// `LARDER_TEST_ROUNDS` of the environment.
///
/// One round of `swift test` finds what is plainly wrong and takes seconds.
/// `Tests/Reliability/models` runs the same tests many times as long.
package func rounds(_ count: Int) -> Int { count * factor }

private let factor =
  ProcessInfo.processInfo.environment["LARDER_TEST_ROUNDS"].flatMap { Int($0) } ?? 1
