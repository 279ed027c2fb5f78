/// The keys of the benchmarks: URLs of 20 to 200 bytes, 57 on average.
///
/// The length of a key decides whether a file's attribute fits into its inode, so short keys of one
/// length would hide what users get.
enum BenchmarkKeys {
  // `#` stands for seven digits that no other key has.
  private static let forms: [[Substring]] = [
    "https://a.io/#",
    "https://cdn.example.com/ic/#.png",
    "https://example.com/items/#",
    "https://example.org/pages/#.html",
    "https://api.example.com/v1/users/#",
    "https://static.example.net/css/#.css",
    "https://img.example.com/thumbs/256/#.jpg",
    "https://api.example.com/v1/users/#?full=1",
    "https://example.com/articles/2026/11/21/#.html",
    "https://registry.example.org/swift/#.tar.gz",
    "https://shop.example.com/en/#/reviews?page=2&sort=new",
    "https://tiles.example.org/basic/512/14/8529/#@2x.png",
    "https://maps.example.com/v2/route?from=52.5200,13.4050&id=#",
    "https://feeds.example.com/podcasts/#/episodes.xml",
    "https://images.example.com/w_800,h_600,c_fill,q_auto/v17/#.webp",
    "https://search.example.com/api/v3/query?q=disk+cache+for+swift+on+linux&lang=en&region=de"
      + "&page=3&size=50&sort=relevance&filters=brand:any,price:10-250,stock:yes&session=#"
      + "&client=web-9.14.2&utm=m",
  ].map { $0.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false) }

  /// Returns a number of keys. Calls with different kinds share no key.
  ///
  /// - Parameter kind: A number from 0 to 780.
  static func make(_ count: Int, kind: Int = 0) -> [String] {
    (0..<count).map { index in
      let form = forms[index % forms.count]
      let digits = String(kind * 100_000_000 + index, radix: 36)
      return form[0] + String(repeating: "0", count: 7 - digits.count) + digits + form[1]
    }
  }

  /// A sentence with the lengths of the keys and a sample.
  static var summary: String {
    let keys = make(forms.count)
    let lengths = keys.map(\.utf8.count)
    let mean = (lengths.reduce(0, +) + lengths.count / 2) / lengths.count
    let sample = [keys[0], keys[7], keys[10]].joined(separator: " ")
    return "keys of \(lengths.min() ?? 0) to \(lengths.max() ?? 0) bytes, mean \(mean): \(sample)"
  }
}
