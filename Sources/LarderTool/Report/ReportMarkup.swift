import Larder

/// The fixed markup of the page, without data.
enum ReportMarkup {
  /// The body, up to the data.
  static let body = """
    <body>
    <header id="header">
    <h1>Larder report</h1>
    <p id="directory" class="path"></p>
    <p id="made" class="note"></p>
    <div id="totals" class="totals"></div>
    </header>
    <noscript><p>This page draws itself with its own script, which is switched off.</p></noscript>
    <main>
    <section>
    <h2>Entries by size, coloured by time to expiry</h2>
    <div id="legend" class="legend"></div>
    <div class="map"><canvas id="map" role="img"></canvas><div id="tip" hidden></div></div>
    <div id="sizes"></div>
    </section>
    <div class="pair">
    <section><h2>Last use, UTC</h2><div id="uses" class="chart"></div></section>
    <section><h2>Time to expiry</h2><div id="expiries" class="chart"></div></section>
    </div>
    <section><h2>What an eviction would take</h2><div id="eviction"></div></section>
    <section id="findings"><h2>Damaged, unproven and foreign</h2><div id="problems"></div></section>
    <section>
    <h2>All entries</h2>
    <div class="tools">
    <input id="search" type="search" placeholder="Search keys and names" \
    aria-label="Search keys and names" autocomplete="off" spellcheck="false">
    <div id="filters" class="filters" role="group" aria-label="Show only"></div>
    <output id="found"></output>
    </div>
    <p id="prefix" class="note" hidden></p>
    <div id="table" class="table" role="table" aria-label="Entries">
    <div id="titles" class="row titles" role="row"></div>
    <div id="rows" class="rows" role="rowgroup" tabindex="0" aria-label="Rows">\
    <div id="space" role="presentation"></div></div>
    </div>
    <dl id="details" hidden></dl>
    </section>
    </main>
    <footer id="footer"></footer>

    """
}

/// The content of a report, as of one moment.
struct ReportContent: Sendable {
  /// The largest number of foreign things that are listed.
  static let mostForeign = 1000

  let directory: String
  let now: Timestamp
  /// The limit from the command line.
  let limit: Int?
  /// The total size after an eviction.
  let target: Int
  /// Whether the eviction takes the least valuable, and not the least recently used.
  var isByValue = false
  /// Everything in the directory.
  let inventory: Inventory
  /// What an eviction would do with each entry.
  let fates: [Inventory.Fate]

  /// The entries in the order of their names.
  var entries: [DiskEntry] { inventory.entries }
  /// The counts of what is in the directory.
  var survey: DirectorySurvey { inventory.survey }
  /// The result of reading all values; nil if they were not read.
  var findings: Verification? { inventory.findings }
  /// The bytes of all values together.
  var byteCount: Int { entries.byteCount }

  /// Returns the object for scripts.
  func json(page: [UInt8]) -> JSONValue {
    let taken = zip(entries, fates).filter { $1 != .stays }.map(\.0)
    return [
      "schema": 1, "directory": .string(directory),
      "page": JSONValue(String(validating: page, as: UTF8.self)),
      "entries": JSONValue(entries.count), "bytes": JSONValue(byteCount),
      "expired": JSONValue(survey.expiredCount),
      "checked": findings.map { JSONValue($0.checkedCount) } ?? .null,
      "damaged": findings.map { JSONValue($0.damaged.count) } ?? .null,
      "unreadable": findings.map { JSONValue($0.unreadable.count) } ?? .null,
      "foreign": JSONValue(survey.foreignCount),
      "eviction": [
        "target": JSONValue(target), "entries": JSONValue(taken.count),
        "bytes": JSONValue(taken.byteCount),
      ],
    ]
  }
}
