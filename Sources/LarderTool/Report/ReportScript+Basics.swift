extension ReportScript {
  /// The script's data, and its functions that format numbers and times.
  static let basics = #"""
    const data = JSON.parse(document.getElementById("data").textContent);
    const entries = data.entries;
    const NAME = 0, KEY = 1, SIZE = 2, ALLOCATED = 3, USED = 4, EXPIRES = 5, FLAGS = 6,
      LIFETIME = 7, DATA = 8;
    const DAMAGED = 1, OVERDUE = 2, EVICTED = 4, UNKNOWN = 8, UNREADABLE = 16, UNPROVEN = 32,
      WHOLE = 64, HINTED = 128, IDLE = 256;
    // The rows have distances from now, which are shorter than times.
    for (const entry of entries) {
      entry[USED] = data.now - entry[USED];
      if (entry[EXPIRES] !== null) entry[EXPIRES] += data.now;
    }
    const HOUR = 3600, DAY = 86400;
    // The classes of time to expiry: a bound in seconds, and a label.
    const classes = [
      [0, "expired"], [HOUR, "up to 1 h"], [DAY, "up to 1 d"], [7 * DAY, "up to 7 d"],
      [30 * DAY, "up to 30 d"], [Infinity, "later"], [null, "never"]
    ];

    function byId(id) { return document.getElementById(id); }

    function make(tag, className, text) {
      const element = document.createElement(tag);
      if (className) element.className = className;
      if (text !== undefined) element.textContent = text;
      return element;
    }

    function classOf(entry) {
      if (entry[EXPIRES] === null) return 6;
      const left = entry[EXPIRES] - data.now;
      return classes.findIndex(([bound]) => left <= bound);
    }

    function colour(index) {
      return getComputedStyle(document.documentElement).getPropertyValue("--c" + index).trim();
    }

    function grouped(number) { return number.toLocaleString("en-US"); }

    function plural(count, noun) {
      const many = noun.endsWith("y") ? noun.slice(0, -1) + "ies" : noun + "s";
      return grouped(count) + " " + (count === 1 ? noun : many);
    }

    function bytes(count) {
      const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
      let unit = 0;
      while (count >= 1024 && unit < 6) { count /= 1024; unit += 1; }
      return (unit ? count.toFixed(1) : count) + " " + units[unit];
    }

    function span(seconds) {
      const units = [[31556952, "y"], [DAY, "d"], [HOUR, "h"], [60, "min"], [1, "s"]];
      const [size, name] = units.find(([size]) => Math.round(seconds / size) >= 2) || [1, "s"];
      return Math.round(seconds / size) + " " + name;
    }

    function ago(time) { return time >= data.now ? "now" : span(data.now - time) + " ago"; }

    function expiry(entry) {
      if (entry[EXPIRES] === null) return "never";
      return entry[EXPIRES] <= data.now ? "expired" : "in " + span(entry[EXPIRES] - data.now);
    }

    // Dates reach further than JavaScript's do: what is beyond is named by its distance alone.
    function date(time) {
      const value = new Date(time * 1000);
      if (isNaN(value)) return "in " + span(time - data.now);
      return value.toISOString().slice(0, 16).replace("T", " ") + " UTC";
    }

    function fullKey(entry) {
      return entry[FLAGS] & (UNKNOWN | WHOLE) ? entry[KEY] : data.prefix + entry[KEY];
    }

    // Nothing of the key is known, not even its end.
    function isNameless(entry) { return (entry[FLAGS] & (UNKNOWN | HINTED)) === UNKNOWN; }

    function shortKey(entry) {
      const isCut = data.prefix && !(entry[FLAGS] & (UNKNOWN | WHOLE));
      return (isCut ? "\u2026" : "") + entry[KEY];
    }

    function lifetime(entry) {
      const value = entry[LIFETIME];
      if (value === undefined || value === null) return "unknown";
      return typeof value === "number" ? span(value) : value;
    }

    // The command that mends something, for a shell.
    function command(verb, options) {
      return ["larder", verb, options, data.directoryWord || "DIR"].filter(Boolean).join(" ");
    }

    // The numbers of a chart, for readers of text.
    function numbers(box, titles, rows) {
      const details = make("details"), table = make("table"), head = make("tr");
      head.append(...titles.map((title) => make("th", "", title)));
      table.append(head);
      for (const cells of rows) {
        const line = make("tr");
        line.append(...cells.map((cell) => make("td", "", cell)));
        table.append(line);
      }
      details.append(make("summary", "", "The same as a table"), table);
      box.append(details);
    }

    function total(list) { return list.reduce((sum, entry) => sum + entry[SIZE], 0); }

    function withFlag(flag) { return entries.filter((entry) => entry[FLAGS] & flag); }

    """#
}
