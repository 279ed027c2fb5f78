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

    // The times from the earliest but 1 % until now, on a straight scale.
    function straight(times) {
      const sorted = Float64Array.from(times).sort();
      const start = sorted[Math.floor((sorted.length - 1) * 0.01)];
      const length = Math.max(data.now - start, 1), marks = ticks(start, start + length);
      return {
        place: (time) => (time - start) / length, time: (part) => start + part * length,
        marks: marks.map((text, index) => [index / (marks.length - 1), text])
      };
    }

    // Each time to come, on a scale on which a minute, a day and a year have about equal room.
    function logarithmic(times) {
      const units = [[1, "1 s"], [60, "1 min"], [HOUR, "1 h"], [DAY, "1 d"], [7 * DAY, "7 d"],
        [30 * DAY, "30 d"], [365 * DAY, "1 y"], [3650 * DAY, "10 y"], [36500 * DAY, "100 y"]];
      const left = times.map((time) => time - data.now);
      const nearest = left.reduce((a, b) => Math.min(a, b));
      const last = left.reduce((a, b) => Math.max(a, b));
      const low = (units.findLast(([bound]) => bound <= nearest) || units[0])[0];
      const high = Math.max(last, low * 2), marks = [];
      const place = (distance) => Math.log(Math.max(distance, low) / low) / Math.log(high / low);
      for (const [bound, text] of units) {
        if (bound < low || bound > high) continue;
        // A mark too near to the one before it would cover its text.
        const least = innerWidth < 700 ? 0.12 : 0.08, isFirst = !marks.length;
        if (!isFirst && place(bound) - marks.at(-1)[0] < least) continue;
        marks.push([place(bound), (isFirst ? "in " : "") + text]);
      }
      return {
        place: (time) => place(time - data.now),
        time: (part) => data.now + low * (high / low) ** part, marks
      };
    }

    // Bars of entries by the time of each; `paint` gives the background of a bar.
    function timeline(box, times, scale, paint) {
      const count = innerWidth < 700 ? 30 : 48;
      const bars = Array.from({ length: count }, () => []);
      times.forEach((time, index) => {
        const bar = Math.max(0, Math.min(count - 1, Math.floor(scale.place(time) * count)));
        bars[bar].push(index);
      });
      const most = Math.max(...bars.map((bar) => bar.length)), row = make("div", "bars");
      const ends = bars.map((_, index) => [index, index + 1].map((end) => scale.time(end / count)));
      bars.forEach((members, index) => {
        const bar = make("div"), value = members.length;
        bar.style.height = value ? Math.max(2, value / most * 100) + "%" : "0";
        if (value) bar.style.background = paint(members);
        bar.title = plural(value, "entry") + ", " + ends[index].map(date).join(" to ");
        row.append(bar);
      });
      const axis = make("div", "axis");
      for (const [part, text] of scale.marks) {
        const mark = make("span", "", text);
        mark.style.left = part * 100 + "%";
        // The text stays within the chart at both its ends.
        mark.style.transform = "translateX(-" + part * 100 + "%)";
        axis.append(mark);
      }
      box.append(make("p", "scale", "highest bar: " + plural(most, "entry")), row, axis);
      numbers(box, ["From", "To", "Entries"], ends.map((end, index) => [...end.map(exact),
        grouped(bars[index].length)]).filter((_, index) => bars[index].length));
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
      const idle = withFlag(IDLE), legend = make("div", "legend");
      legend.append(legendItem(make("span", "swatch idle"), "not used since the store: "
        + plural(idle.length, "entry") + ", " + bytes(total(idle))));
      if (idle.length) box.append(legend);
      timeline(box, times, straight(times), (members) => {
        const idle = members.filter((index) => entries[index][FLAGS] & IDLE).length;
        const part = idle / members.length * 100 + "%";
        return "linear-gradient(to top, var(--idle) " + part + ", var(--accent) " + part + ")";
      });
    }

    function showExpiries() {
      const box = byId("expiries");
      const times = entries.map((entry) => entry[EXPIRES])
        .filter((time) => time !== null && time > data.now);
      if (times.length) {
        // The colour of what is in the bar, which is not that of the bar's middle.
        timeline(box, times, logarithmic(times), (members) => {
          const mean = members.reduce((sum, index) => sum + times[index], 0) / members.length;
          return "var(--c" + classOf([0, 0, 0, 0, 0, mean]) + ")";
        });
      }
      const expired = entries.filter((entry) => classOf(entry) === 0).length;
      const never = entries.filter((entry) => entry[EXPIRES] === null).length;
      box.append(make("p", "note", grouped(times.length) + " to come, " + grouped(expired)
        + " past, " + grouped(never) + " never."));
    }

    """#
}
