import Synchronization

/// A cache like YYMemoryCache: a dictionary of nodes in a doubly linked list, one lock.
final class NodeListCache: BenchmarkedCache {
  private final class Node {
    let key: String
    var value: [UInt8]
    var previous: Node?
    var next: Node?

    init(key: String, value: [UInt8]) {
      self.key = key
      self.value = value
    }
  }

  private struct State {
    var nodes: [String: Node] = [:]
    var first: Node?
    var last: Node?

    /// Unlinks a node from both neighbours. Its own links are cleared, so that no chain of owners
    /// remains.
    mutating func unlink(_ node: Node) {
      if let previous = node.previous { previous.next = node.next } else { first = node.next }
      if let next = node.next { next.previous = node.previous } else { last = node.previous }
      (node.previous, node.next) = (nil, nil)
    }

    mutating func linkAtFront(_ node: Node) {
      node.next = first
      first?.previous = node
      first = node
      if last == nil { last = node }
    }
  }

  private let state = Mutex(State())
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
  }

  func get(_ key: String) -> [UInt8]? {
    state.withLock { state in
      guard let node = state.nodes[key] else { return nil }
      if state.first !== node {
        state.unlink(node)
        state.linkAtFront(node)
      }
      return node.value
    }
  }

  func set(_ key: String, _ value: [UInt8]) {
    state.withLock { state in
      if let node = state.nodes[key] {
        node.value = value
        state.unlink(node)
        state.linkAtFront(node)
        return
      }
      let node = Node(key: key, value: value)
      state.nodes[key] = node
      state.linkAtFront(node)
      guard state.nodes.count > capacity, let victim = state.last else { return }
      state.unlink(victim)
      state.nodes[victim.key] = nil
    }
  }
}
