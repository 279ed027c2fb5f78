extension ReportScript {
  /// The sections on the next eviction and on damaged and foreign files.
  static let findings = #"""
    function showEviction() {
      const overdue = withFlag(OVERDUE), evicted = withFlag(EVICTED), sum = total(entries);
      const of = data.limit === null ? "half of the present total" : "half of the limit";
      const gone = total(overdue) + total(evicted);
      byId("eviction").append(
        make("p", "", "Down to " + bytes(data.target) + ", " + of + ": "
          + plural(overdue.length, "expired entry") + " of " + bytes(total(overdue)) + ", then "
          + plural(evicted.length, "entry") + " of " + bytes(total(evicted))
          + ", the least recently used first. " + bytes(sum - gone) + " would stay."),
        stack([[total(overdue), 0], [total(evicted), 1], [sum - gone, 4]], sum),
        make("p", "note", due(sum) + lastUse(evicted)));
      const button = make("button", "show", "Show them in the table");
      button.addEventListener("click", () => choose("evicted"));
      byId("eviction").append(button);
    }

    function due(sum) {
      if (data.limit === null) return "Without --limit it is not known when one is due. ";
      if (sum > data.limit) return "One is due: the total is above the limit. ";
      return "None is due: " + bytes(data.limit - sum) + " are left. ";
    }

    function lastUse(evicted) {
      const latest = evicted.reduce((time, entry) => Math.max(time, entry[USED]), -Infinity);
      return evicted.length ? "All that was last used up to " + date(latest) + " would go." : "";
    }

    function stack(parts, sum) {
      const bar = make("div", "stack");
      for (const [size, index] of parts) {
        const part = make("div");
        part.style.width = (sum ? size / sum * 100 : 0) + "%";
        part.style.background = "var(--c" + index + ")";
        part.title = bytes(size);
        bar.append(part);
      }
      return bar;
    }

    function showProblems() {
      const box = byId("problems"), damaged = withFlag(DAMAGED), strange = withFlag(UNREADABLE);
      if (data.checked === null) {
        box.append(make("p", "note", "The values were not read, so damage is not known."));
      }
      listing(box, "damaged: a read misses them", damaged.map(label));
      listing(box, "unreadable, or of another version of the format", strange.map(label));
      listing(box, "foreign: never counted or touched",
        data.foreign.map(([name, kind]) => name + " (" + kind + ")"), data.foreignCount);
      if (data.unfinished) {
        box.append(make("p", "", plural(data.unfinished, "write") + " unfinished."));
      }
      const isClean = !damaged.length && !strange.length && !data.foreignCount;
      if (isClean && data.checked !== null) box.append(make("p", "", "Nothing is wrong."));
    }

    function label(entry) {
      return entry[FLAGS] & UNKNOWN ? entry[NAME] : entry[KEY] + " (" + entry[NAME] + ")";
    }

    function listing(box, title, items, count = items.length) {
      if (!items.length) return;
      box.append(make("p", "", grouped(count) + " " + title));
      const list = make("ul", "list");
      const shown = items.slice(0, 100);
      list.append(...shown.map((text) => make("li", "", text)));
      box.append(list);
      if (count > shown.length) {
        box.append(make("p", "note", "and " + grouped(count - shown.length) + " more"));
      }
    }

    """#
}
