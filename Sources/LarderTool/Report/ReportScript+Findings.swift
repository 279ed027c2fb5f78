extension ReportScript {
  /// The sections on the next eviction and on damaged and foreign files.
  static let findings = #"""
    function showEviction() {
      const overdue = withFlag(OVERDUE), evicted = withFlag(EVICTED), sum = total(entries);
      const of = data.limit === null ? "half of the present total" : "half of the limit";
      const gone = total(overdue) + total(evicted);
      if (!gone) {
        byId("eviction").append(make("p", "", "Nothing: " + bytes(sum) + " are already within "
          + bytes(data.target) + ", " + of + "."), make("p", "note", due(sum) + advice()));
        return;
      }
      const parts = [[total(overdue), 0, "expired"], [total(evicted), 1, data.order],
        [sum - gone, 4, "would stay"]];
      byId("eviction").append(
        make("p", "", "Down to " + bytes(data.target) + ", " + of + ": "
          + (overdue.length ? plural(overdue.length, "expired entry") + " of "
            + bytes(total(overdue)) + ", then " : "")
          + plural(evicted.length, "entry") + " of " + bytes(total(evicted))
          + ", the " + data.order + " first. " + bytes(sum - gone) + " would stay."),
        stack(parts, sum), stackLegend(parts),
        make("p", "note", due(sum) + lastUse(evicted) + advice()));
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
      const goesByUse = data.order === "least recently used";
      return evicted.length && goesByUse
        ? "All that was last used up to " + date(latest) + " would go. " : "";
    }

    // No file says what was evicted before.
    function advice() {
      return "Whether a larger limit would help, larder top DIR shows while the cache is in use.";
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

    function stackLegend(parts) {
      const legend = make("div", "legend");
      legend.append(...parts.map(([size, index, text]) =>
        legendItem(swatch(index), text + ": " + bytes(size))));
      return legend;
    }

    // A cache without entries has nothing to draw.
    function showEmptiness() {
      for (const part of document.querySelectorAll("main > *")) {
        part.hidden = part.id !== "findings" || !(data.foreignCount || data.unfinished);
      }
      byId("totals").hidden = true;
      const box = make("section");
      box.append(make("p", "", "The cache is empty."));
      byId("header").append(box);
      showProblems();
    }

    function showProblems() {
      const box = byId("problems"), damaged = withFlag(DAMAGED), strange = withFlag(UNREADABLE);
      if (data.checked === null) {
        box.append(make("p", "note", "The values were not read, so damage is not known."));
      }
      if (damaged.length) {
        listing(box, "damaged: a read finds nothing", damaged.map(label));
        const them = damaged.length === 1 ? "it" : "them";
        cure(box, "To remove " + them + ": ", command("verify", "--repair"));
      }
      listing(box, "unreadable, or of another version of the format", strange.map(label));
      listing(box, "foreign: never counted or touched",
        data.foreign.map(([name, kind]) => name + " (" + kind + ")"), data.foreignCount);
      if (data.unfinished) {
        box.append(make("p", "", plural(data.unfinished, "write") + " unfinished."));
      }
      if (data.checked !== null) showProof(box, damaged.length + strange.length);
    }

    // What is proven is said apart from what is not known.
    function showProof(box, wrong) {
      const unproven = withFlag(UNPROVEN), proven = entries.length - unproven.length - wrong;
      if (proven) {
        box.append(make("p", "", plural(proven, "entry") + (proven === 1 ? " is" : " are")
          + " as stored: the content matches the hash."));
      }
      if (!unproven.length) return;
      listing(box, "not proven: without a hash nothing tells whether the content is as stored",
        unproven.map(label));
      const name = unproven.length === 1 ? unproven[0][NAME] : "NAME";
      cure(box, "To take one as it is, with a new hash: ", command("stamp", "") + " " + name);
    }

    function cure(box, text, line) {
      const paragraph = make("p", "note", text);
      paragraph.append(make("code", "", line));
      box.append(paragraph);
    }

    function label(entry) {
      return isNameless(entry) ? entry[NAME] : fullKey(entry) + " (" + entry[NAME] + ")";
    }

    function listing(box, title, items, count = items.length) {
      if (!items.length) return;
      box.append(make("p", "", grouped(count) + " " + title));
      const list = make("ul", "list");
      const shown = items.slice(0, 20);
      list.append(...shown.map((text) => make("li", "", text)));
      box.append(list);
      if (count > shown.length) {
        box.append(make("p", "note", "and " + grouped(count - shown.length) + " more"));
      }
    }

    """#
}
