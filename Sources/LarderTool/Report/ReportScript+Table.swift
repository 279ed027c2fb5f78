extension ReportScript {
  /// The table. Only the visible rows are in the page, so that 100,000 entries are as fast as 30.
  static let table = #"""
    const rowHeight = 28;
    const columns = [
      ["key", "Key", KEY], ["number", "Size", SIZE], ["used", "Used", USED],
      ["expires", "Expires", EXPIRES], ["lifetime", "Lifetime", LIFETIME], ["data", "Data", DATA],
      ["name", "Name", NAME]
    ];
    const filters = {
      all: ["All", () => true],
      expired: ["Expired", (entry) => classOf(entry) === 0],
      evicted: ["Would be evicted", (entry) => entry[FLAGS] & (OVERDUE | EVICTED)],
      unused: ["Not used since the store", (entry) => entry[FLAGS] & IDLE],
      damaged: ["Damaged", (entry) => entry[FLAGS] & (DAMAGED | UNREADABLE)],
      unproven: ["Not proven", (entry) => entry[FLAGS] & UNPROVEN],
      unknown: ["Key unknown", (entry) => entry[FLAGS] & UNKNOWN]
    };
    let sorting = { column: SIZE, isDown: true }, filter = "all", rows = [], chosen = null;
    let haystack = null;

    function showTable() {
      for (const [className, title, column] of columns) {
        const head = make("span", className), button = make("button", "", title);
        head.setAttribute("role", "columnheader");
        head.dataset.column = column;
        button.addEventListener("click", () => sortBy(column));
        head.append(button);
        byId("titles").append(head);
      }
      byId("table").classList.toggle("dataless", !entries.some((entry) => entry[DATA]));
      if (data.prefix) {
        const isAll = entries.every((entry) => !(entry[FLAGS] & WHOLE));
        byId("prefix").textContent = (isAll ? "All known" : "Most") + " keys begin with "
          + data.prefix + ", which the column leaves out.";
        byId("prefix").hidden = false;
      }
      for (const [name, [title, test]] of Object.entries(filters)) {
        const count = entries.filter(test).length;
        if (!count && name !== "all") continue;
        const button = make("button", "", title + " " + grouped(count));
        button.dataset.filter = name;
        button.addEventListener("click", () => choose(name));
        byId("filters").append(button);
      }
      // As high as a few rows are, and not changed by a search, so that its field stays in place.
      byId("rows").style.height = Math.min(500, entries.length * rowHeight + 1) + "px";
      byId("rows").addEventListener("scroll", drawRows, { passive: true });
      byId("rows").addEventListener("keydown", walk);
      byId("search").addEventListener("input", update);
      update();
    }

    // The arrow keys choose a row, whose details are shown.
    function walk(event) {
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -Infinity,
        End: Infinity };
      const step = steps[event.key], box = byId("rows");
      if (step === undefined || !rows.length) return;
      event.preventDefault();
      const here = rows.indexOf(chosen);
      const next = Math.max(0, Math.min(rows.length - 1, here < 0 ? 0 : here + step));
      const top = next * rowHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      const bottom = top + rowHeight - box.clientHeight;
      if (bottom > box.scrollTop) box.scrollTop = bottom;
      showDetails(rows[next]);
    }

    function sortBy(column) {
      const isDown = sorting.column === column ? !sorting.isDown : column === SIZE;
      sorting = { column, isDown };
      update();
    }

    function choose(name) {
      filter = name;
      byId("search").value = "";
      update();
      byId("search").scrollIntoView({ block: "center" });
    }

    function find(text) {
      filter = "all";
      byId("search").value = text;
      update();
      if (rows.length === 1) showDetails(rows[0]);
      byId("search").scrollIntoView({ block: "center" });
    }

    // A view of the table can be kept as a link: #q=text&show=expired&sort=key
    function followFragment() {
      const wanted = new URLSearchParams(location.hash.slice(1));
      if (![...wanted].length) return;
      const column = columns.find(([name]) => name === wanted.get("sort"));
      if (column) sorting = { column: column[2], isDown: false };
      if (Object.hasOwn(filters, wanted.get("show"))) filter = wanted.get("show");
      byId("search").value = wanted.get("q") || "";
      update();
      if (rows.length === 1) showDetails(rows[0]);
    }

    // Keys and names in lower case, made at the first search.
    function matches(needle) {
      haystack = haystack
        || new Map(entries.map((entry) =>
          [entry, (fullKey(entry) + "\n" + entry[NAME]).toLowerCase()]));
      return (entry) => haystack.get(entry).includes(needle);
    }

    // What is compared of an entry with another. Keys without their common beginning have the same
    // order. Lifetimes are numbers, or words that come after them; data are sorted by their length.
    function sortKey(entry, other) {
      const value = entry[sorting.column];
      if (sorting.column === KEY) {
        return (entry[FLAGS] | other[FLAGS]) & (UNKNOWN | WHOLE) ? fullKey(entry) : value;
      }
      if (sorting.column < LIFETIME) return value;
      if (sorting.column === DATA) return value ? value.length : 0;
      return typeof value === "number" ? value : value === undefined ? null : Infinity;
    }

    function compare(a, b) {
      const x = sortKey(a, b), y = sortKey(b, a);
      if (x === y) return a[NAME] < b[NAME] ? -1 : 1;
      // Never comes after every date.
      if (x === null || y === null) return x === null ? 1 : -1;
      return x < y ? -1 : 1;
    }

    function update() {
      const needle = byId("search").value.toLowerCase();
      rows = entries.filter(filters[filter][1]);
      if (needle) rows = rows.filter(matches(needle));
      rows.sort(sorting.isDown ? (a, b) => compare(b, a) : compare);
      byId("found").textContent = grouped(rows.length) + " of " + plural(entries.length, "entry")
        + ", " + bytes(total(rows));
      markControls();
      byId("table").setAttribute("aria-rowcount", rows.length + 1);
      byId("space").style.height = rows.length * rowHeight + "px";
      byId("rows").scrollTop = 0;
      drawRows();
    }

    function markControls() {
      for (const button of byId("titles").children) {
        const isHere = Number(button.dataset.column) === sorting.column;
        const order = sorting.isDown ? "descending" : "ascending";
        button.setAttribute("aria-sort", isHere ? order : "none");
        const title = columns.find(([, , column]) => String(column) === button.dataset.column)[1];
        const arrow = sorting.isDown ? " \u25be" : " \u25b4";
        button.firstChild.textContent = title + (isHere ? arrow : "");
      }
      for (const button of byId("filters").children) {
        button.setAttribute("aria-pressed", String(button.dataset.filter === filter));
      }
    }

    function drawRows() {
      const box = byId("rows"), space = byId("space");
      const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 5);
      const count = Math.ceil(box.clientHeight / rowHeight) + 10;
      const shown = rows.slice(first, first + count);
      space.replaceChildren(...shown.map((entry, index) => row(entry, first + index)));
    }

    function row(entry, index) {
      const line = make("div", entry === chosen ? "row chosen" : "row");
      line.setAttribute("role", "row");
      line.setAttribute("aria-rowindex", index + 2);
      line.style.top = index * rowHeight + "px";
      const expires = make("span", "expires");
      expires.append(swatch(classOf(entry)), expiry(entry));
      line.append(keyCell(entry), make("span", "number", bytes(entry[SIZE])),
        make("span", "used", ago(entry[USED])), expires,
        make("span", "lifetime", lifetime(entry)), make("span", "data", entry[DATA] || ""),
        make("span", "name", entry[NAME]));
      for (const cell of line.children) cell.setAttribute("role", "cell");
      line.addEventListener("click", () => showDetails(entry));
      return line;
    }

    function keyCell(entry) {
      const cell = make("span", "key"), flags = entry[FLAGS];
      const mark = flags & DAMAGED ? "damaged" : flags & UNREADABLE ? "unreadable"
        : flags & UNPROVEN ? "not proven" : "";
      if (mark) cell.append(make("b", flags & UNPROVEN ? "mark" : "mark bad", mark));
      // Where it does not fit, its middle is left out, because keys differ at their ends.
      const text = [...shortKey(entry)], end = text.length > 6 ? Math.min(10, text.length >> 1) : 0;
      cell.append(make("span", "start", text.slice(0, text.length - end).join("")));
      if (end) cell.append(make("span", "end", text.slice(-end).join("")));
      cell.title = fullKey(entry);
      return cell;
    }

    function state(flags) {
      if (flags & DAMAGED) return "damaged; " + command("verify", "--repair") + " removes it";
      if (flags & UNREADABLE) return "unreadable, or of another version of the format";
      const proof = flags & UNPROVEN ? ", not proven by a hash" : "";
      return (flags & (OVERDUE | EVICTED) ? "would be evicted" : "stays") + proof;
    }

    function showDetails(entry) {
      chosen = entry;
      const list = byId("details");
      const facts = [
        [entry[FLAGS] & HINTED ? "end of the key" : "key", fullKey(entry)],
        ["file", data.directory + "/" + entry[NAME]],
        ["size", grouped(entry[SIZE]) + " bytes, " + bytes(entry[ALLOCATED]) + " on disk"],
        ["last use", date(entry[USED]) + ", " + ago(entry[USED])
          + (entry[FLAGS] & IDLE ? ", not used since the store" : "")],
        ["expiry", entry[EXPIRES] === null ? "never" : date(entry[EXPIRES]) + ", " + expiry(entry)],
        ["lifetime", lifetime(entry)],
        ["state", state(entry[FLAGS])]
      ];
      if (entry[DATA]) facts.splice(5, 0, ["extended data", entry[DATA]]);
      list.replaceChildren(...facts.flatMap(([term, text]) =>
        [make("dt", "", term), make("dd", "", text)]));
      list.hidden = false;
      drawRows();
    }

    """#
}
