/// What a memory tier may hold, and how far it goes down when that is passed.
@usableFromInline
struct MemoryLimits: Hashable, Sendable {
  /// The most that all entries may cost together; nil for no limit.
  @usableFromInline
  var cost: Int?
  /// The most entries; nil for no limit.
  @usableFromInline
  var count: Int?
  /// How long an entry stays without a use; nil for no limit.
  @usableFromInline
  var age: Duration?
  /// The part of a passed limit that a trim goes down to, above 0 and up to 1.
  @usableFromInline
  var trimTarget: Double

  /// Collects the limits; a negative one traps.
  init(cost: Int?, count: Int?, age: Duration?, trimTarget: Double) {
    precondition(cost ?? 0 >= 0, "costLimit must not be negative; nil sets no limit")
    precondition(count ?? 0 >= 0, "countLimit must not be negative; nil sets no limit")
    precondition(age ?? .zero >= .zero, "ageLimit must not be negative; nil sets no limit")
    precondition(
      trimTarget > 0 && trimTarget <= 1, "trimTarget is a part of the limit: above 0, up to 1")
    self.cost = cost
    self.count = count
    self.age = age
    self.trimTarget = trimTarget
  }

  /// The part of the limits that falls to one of several stripes; the parts add up to the whole.
  func share(ofStripe index: Int, of stripes: Int) -> MemoryLimits {
    func part(_ limit: Int) -> Int { limit / stripes + (index < limit % stripes ? 1 : 0) }
    var limits = self
    limits.cost = cost.map(part)
    limits.count = count.map(part)
    return limits
  }

  /// What a trim goes down to when `limit` is passed.
  func target(of limit: Int) -> Int {
    trimTarget == 1 ? limit : Int((Double(limit) * trimTarget).rounded())
  }
}
