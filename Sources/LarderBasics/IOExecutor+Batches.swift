import LarderSystem

extension IOExecutor {
  /// Runs blocking work for each element, spread over the threads.
  ///
  /// - Parameter replaces: Whether the work would have replaced values.
  /// - Returns: The outcomes in the order of the elements; `.cancelled` for those that the
  ///   cancellation of the task was quicker than.
  package func map<Element: Sendable, Output: Sendable>(
    _ elements: [Element], replaces: Bool = false,
    _ work: @escaping @Sendable (Element) throws(CacheError) -> Output
  ) async -> [Result<Output, CacheError>] {
    // One job per thread and not one per element, so that a batch of small reads is not mostly
    // hops.
    let pieceCount = max(1, min(threadLimit, elements.count))
    let pieces = (0..<pieceCount).map { piece in
      elements.count * piece / pieceCount..<elements.count * (piece + 1) / pieceCount
    }
    return await withTaskGroup(of: (Int, [Result<Output, CacheError>]).self) { group in
      for (index, piece) in pieces.enumerated() {
        group.addTask { (index, await self.outcomes(of: elements[piece], replaces, work)) }
      }
      var outcomes = Array(repeating: [Result<Output, CacheError>](), count: pieceCount)
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes.flatMap { $0 }
    }
  }

  private func outcomes<Element: Sendable, Output: Sendable>(
    of elements: ArraySlice<Element>, _ replaces: Bool,
    _ work: @escaping @Sendable (Element) throws(CacheError) -> Output
  ) async -> [Result<Output, CacheError>] {
    do throws(CacheError) {
      return try await run("batch", replaces: replaces) { () throws(CacheError) in
        elements.map { element in
          do throws(CacheError) {
            return .success(try work(element))
          } catch {
            return .failure(error)
          }
        }
      }
    } catch {
      // Only cancellation gets here: a piece that did not start has no outcome of its own.
      return elements.map { _ in .failure(error) }
    }
  }
}
