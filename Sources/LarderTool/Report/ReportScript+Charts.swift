extension ReportScript {
  /// The totals, the legend and the two timelines.
  static let charts = #"""
    function showTotals() {
      byId("directory").textContent = data.directory;
      byId("made").textContent = "Made on " + madeAt() + " by larder " + data.version + ".";
      const damaged = withFlag(DAMAGED).length;
      const expired = entries.filter((entry) => classOf(entry) === 0).length;
      const allocated = entries.reduce((sum, entry) => sum + entry[ALLOCATED], 0);
      const items = [
        ["entries", grouped(entries.length)], ["bytes", bytes(total(entries))],
        ["on disk", bytes(allocated)], ["expired", grouped(expired), expired],
        ["damaged", data.checked === null ? "not read" : grouped(damaged), damaged],
        ["foreign", grouped(data.foreignCount)]
      ];
      if (data.limit !== null) items.splice(2, 0, ["limit", bytes(data.limit)]);
      for (const [label, value, isBad] of items) {
        const box = make("div", isBad ? "total bad" : "total");
        box.append(make("b", "", value), make("span", "", label));
        byId("totals").append(box);
      }
      byId("footer").textContent = "This file loads nothing and holds the keys.";
    }

    function madeAt() {
      const months = ["January", "February", "March", "April", "May", "June", "July", "August",
        "September", "October", "November", "December"];
      const [day, time] = data.made.split("T"), [year, month, date] = day.split("-");
      return Number(date) + " " + months[month - 1] + " " + year + " at " + time.slice(0, 8)
        + " UTC";
    }

    function swatch(index) {
      const element = make("span", "swatch");
      element.style.background = "var(--c" + index + ")";
      return element;
    }

    function showLegend() {
      const counts = classes.map(() => 0), sizes = classes.map(() => 0);
      for (const entry of entries) {
        const index = classOf(entry);
        counts[index] += 1;
        sizes[index] += entry[SIZE];
      }
      classes.forEach(([, label], index) => {
        byId("legend").append(
          legendItem(swatch(index), label + " (" + grouped(counts[index]) + ")"));
      });
      const damaged = withFlag(DAMAGED).length;
      if (damaged) {
        byId("legend").append(
          legendItem(make("span", "swatch damaged"), "damaged (" + grouped(damaged) + ")"));
      }
      numbers(byId("sizes"), ["Expires", "Entries", "Bytes"],
        classes.map(([, label], index) => [label, grouped(counts[index]), bytes(sizes[index])]));
    }

    function legendItem(mark, text) {
      const item = make("span");
      item.append(mark, text);
      return item;
    }

    // The middle 98 % of the times on a straight scale; what is beyond falls into the end bars.
    function bounds(times) {
      const sorted = Float64Array.from(times).sort();
      const low = sorted[Math.floor((sorted.length - 1) * 0.01)];
      const high = sorted[Math.ceil((sorted.length - 1) * 0.99)];
      return [low, Math.max(high, low + 1)];
    }

    function timeline(box, times, low, high, tone) {
      const count = innerWidth < 700 ? 30 : 48;
      const bars = Array.from({ length: count }, () => 0), sums = [...bars];
      const step = (high - low) / count;
      for (const time of times) {
        const index = Math.max(0, Math.min(count - 1, Math.floor((time - low) / step)));
        bars[index] += 1;
        sums[index] += time;
      }
      const most = Math.max(...bars), row = make("div", "bars");
      bars.forEach((value, index) => {
        const bar = make("div"), from = low + index * step;
        bar.style.height = value ? Math.max(2, value / most * 100) + "%" : "0";
        // The colour of what is in the bar, which is not that of the bar's middle.
        if (tone && value) bar.style.background = "var(--c" + tone(sums[index] / value) + ")";
        bar.title = plural(value, "entry") + ", " + date(from) + " to " + date(from + step);
        row.append(bar);
      });
      const axis = make("div", "axis");
      axis.append(...ticks(low, high).map((text) => make("span", "", text)));
      box.append(make("p", "scale", "highest bar: " + plural(most, "entry")), row, axis);
      const bins = bars.map((value, index) => [value, low + index * step]);
      numbers(box, ["From", "To", "Entries"], bins.filter(([value]) => value)
        .map(([value, from]) => [exact(from), exact(from + step), grouped(value)]));
    }

    function exact(time) {
      const value = new Date(time * 1000);
      return isNaN(value) ? date(time) : value.toISOString().slice(0, 19).replace("T", " ");
    }

    // Times along an axis, as exact as they have to be so that they differ.
    function ticks(low, high) {
      const count = innerWidth < 700 ? 3 : 5;
      const times = Array.from({ length: count }, (_, index) =>
        exact(low + (high - low) * index / (count - 1)));
      // The date alone, without the year and with the minute, and the time of day alone.
      for (const [start, end] of [[0, 10], [5, 16], [11, 19]]) {
        const texts = times.map((time) => time.slice(start, end));
        if (new Set(texts).size === count) return texts;
      }
      return [times[0], times[count - 1]].map((time) => time.slice(0, 19));
    }

    function showUses() {
      const box = byId("uses"), times = entries.map((entry) => entry[USED]);
      if (!times.length) return box.append(make("p", "note", "There are no entries."));
      const [low] = bounds(times);
      timeline(box, times, low, Math.max(data.now, low + 1));
    }

    function showExpiries() {
      const box = byId("expiries");
      const times = entries.map((entry) => entry[EXPIRES])
        .filter((time) => time !== null && time > data.now);
      if (times.length) {
        const tone = (time) => classOf([0, 0, 0, 0, 0, time]);
        timeline(box, times, data.now, bounds(times)[1], tone);
      }
      const expired = entries.filter((entry) => classOf(entry) === 0).length;
      const never = entries.filter((entry) => entry[EXPIRES] === null).length;
      box.append(make("p", "note", grouped(times.length) + " to come, " + grouped(expired)
        + " past, " + grouped(never) + " never."));
    }

    """#
}
