extension ReportScript {
  /// The treemap. It is squarified, so that areas can be compared.
  ///
  /// Source: Bruls, Huizing, van Wijk, "Squarified Treemaps", 2000. The largest 2,000 entries have
  /// a tile each, and so has every damaged one. The rest share a tile for each class of expiry,
  /// because their own would be a fraction of a pixel.
  static let treemap = #"""
    const mostTiles = 2000;
    let tiles = [];

    function mapItems() {
      const sorted = entries.filter((entry) => entry[SIZE] > 0).sort((a, b) => b[SIZE] - a[SIZE]);
      const items = sorted.slice(0, mostTiles).map((entry) => ({ entry, size: entry[SIZE] }));
      const groups = classes.map((_, index) => ({ rest: 0, size: 0, index }));
      for (const entry of sorted.slice(mostTiles)) {
        if (entry[FLAGS] & DAMAGED) {
          items.push({ entry, size: entry[SIZE] });
          continue;
        }
        const group = groups[classOf(entry)];
        group.rest += 1;
        group.size += entry[SIZE];
      }
      items.push(...groups.filter((group) => group.rest));
      return items.sort((a, b) => b.size - a.size);
    }

    // The worst ratio of sides in a row of areas along a side.
    function worst(sum, largest, smallest, side) {
      const square = side * side / (sum * sum);
      return Math.max(square * largest, 1 / (square * smallest));
    }

    function squarify(items, box, scale) {
      const placed = [];
      let start = 0;
      while (start < items.length) {
        const side = Math.min(box.width, box.height);
        const end = rowEnd(items, start, side, scale);
        placeRow(items.slice(start, end), box, scale, placed);
        start = end;
      }
      return placed;
    }

    // A row grows as long as its worst tile becomes squarer.
    function rowEnd(items, start, side, scale) {
      const largest = items[start].size * scale;
      let sum = largest, ratio = worst(sum, largest, largest, side), end = start + 1;
      while (end < items.length) {
        const area = items[end].size * scale;
        const next = worst(sum + area, largest, area, side);
        if (next > ratio) break;
        sum += area; ratio = next; end += 1;
      }
      return end;
    }

    // Lays a row along the shorter side and takes its strip off the box.
    function placeRow(row, box, scale, placed) {
      const area = row.reduce((sum, item) => sum + item.size * scale, 0);
      const isWide = box.width >= box.height;
      const depth = area / (isWide ? box.height : box.width);
      let along = isWide ? box.y : box.x;
      for (const item of row) {
        const length = item.size * scale / depth;
        placed.push(isWide ? { item, x: box.x, y: along, width: depth, height: length }
          : { item, x: along, y: box.y, width: length, height: depth });
        along += length;
      }
      if (isWide) { box.x += depth; box.width -= depth; }
      else { box.y += depth; box.height -= depth; }
    }

    function drawMap() {
      const canvas = byId("map"), ratio = devicePixelRatio || 1;
      const items = mapItems(), sum = items.reduce((sum, item) => sum + item.size, 0);
      // Beside a single tile there is nothing to compare.
      canvas.parentElement.hidden = !items.length;
      canvas.parentElement.classList.toggle("single", items.length === 1);
      const width = canvas.clientWidth, height = canvas.clientHeight;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const pen = canvas.getContext("2d");
      pen.scale(ratio, ratio);
      tiles = sum ? squarify(items, { x: 0, y: 0, width, height }, width * height / sum) : [];
      const colours = classes.map((_, index) => colour(index));
      for (const tile of tiles) drawTile(pen, tile, colours);
      canvas.setAttribute("aria-label", "The sizes of "
        + plural(entries.length, "entry") + "; the table of all entries below has the same");
    }

    function drawTile(pen, tile, colours) {
      const gap = tile.width > 4 && tile.height > 4 ? 1 : 0;
      const { entry, index } = tile.item;
      pen.fillStyle = colours[entry ? classOf(entry) : index];
      pen.fillRect(tile.x, tile.y, Math.max(0.5, tile.width - gap),
        Math.max(0.5, tile.height - gap));
      if (tile.item.entry && tile.item.entry[FLAGS] & DAMAGED) drawDamage(pen, tile);
      if (tile.width < 54 || tile.height < 18) return;
      const text = getComputedStyle(document.documentElement).getPropertyValue("--label");
      if (tile.item.entry && tile.item.entry[FLAGS] & DAMAGED) {
        // A plain ground for the label, which stripes would make hard to read.
        pen.fillRect(tile.x, tile.y, tile.width - gap, Math.min(tile.height - gap, 36));
      }
      pen.save();
      pen.beginPath();
      pen.rect(tile.x, tile.y, tile.width - 6, tile.height);
      pen.clip();
      pen.font = "12px system-ui, sans-serif";
      pen.fillStyle = text;
      pen.fillText(tileText(pen, tile.item, tile.width - 11), tile.x + 5, tile.y + 14);
      // A size that is cut says another one.
      const size = bytes(tile.item.size), fits = pen.measureText(size).width <= tile.width - 11;
      if (tile.height > 34 && fits) pen.fillText(size, tile.x + 5, tile.y + 29);
      pen.restore();
    }

    // Stripes, because a colour alone is not seen by all.
    function drawDamage(pen, tile) {
      pen.save();
      pen.beginPath();
      pen.rect(tile.x, tile.y, Math.max(1, tile.width - 1), Math.max(1, tile.height - 1));
      pen.clip();
      pen.strokeStyle = "#000";
      pen.lineWidth = 2;
      pen.globalAlpha = 0.45;
      pen.beginPath();
      for (let x = tile.x - tile.height; x < tile.x + tile.width; x += 9) {
        pen.moveTo(x, tile.y + tile.height);
        pen.lineTo(x + tile.height, tile.y);
      }
      pen.stroke();
      pen.restore();
    }

    // The end of a text that does not fit, because keys differ at their ends.
    function fitted(pen, text, width) {
      if (pen.measureText(text).width <= width) return text;
      let rest = [...text].slice(-200);
      while (rest.length > 1 && pen.measureText("\u2026" + rest.join("")).width > width) {
        rest = rest.slice(Math.max(1, rest.length >> 4));
      }
      return "\u2026" + rest.join("");
    }

    function tileText(pen, item, width) {
      if (!item.entry) return othersText(pen, item.rest, width);
      const mark = item.entry[FLAGS] & DAMAGED ? "damaged: " : "";
      const text = isNameless(item.entry) ? item.entry[NAME] : shortKey(item.entry);
      return fitted(pen, mark + text, width);
    }

    // The number is the last to be left out.
    function othersText(pen, count, width) {
      const texts = [plural(count, "other entry"), grouped(count) + " more", grouped(count)];
      return texts.find((text) => pen.measureText(text).width <= width) || "";
    }

    function tileAt(event) {
      const x = event.offsetX, y = event.offsetY;
      return tiles.find((tile) => x >= tile.x && x < tile.x + tile.width
        && y >= tile.y && y < tile.y + tile.height);
    }

    byId("map").addEventListener("pointermove", (event) => {
      const tile = tileAt(event), tip = byId("tip");
      tip.hidden = !tile;
      if (!tile) return;
      const entry = tile.item.entry;
      const facts = entry ? "\nused " + ago(entry[USED]) + ", expires: " + expiry(entry) : "";
      const title = entry ? label(entry) : plural(tile.item.rest, "other entry");
      const cure = entry && entry[FLAGS] & DAMAGED
        ? "\ndamaged; " + command("verify", "--repair") + " removes it" : "";
      tip.textContent = title + "\n" + bytes(tile.item.size) + facts + cure;
      const room = event.target.clientWidth - tip.offsetWidth;
      tip.style.left = Math.max(0, Math.min(event.offsetX + 12, room)) + "px";
      tip.style.top = Math.min(event.offsetY + 14, event.target.clientHeight - 60) + "px";
    });
    byId("map").addEventListener("pointerleave", () => { byId("tip").hidden = true; });
    byId("map").addEventListener("click", (event) => {
      const tile = tileAt(event);
      if (tile && tile.item.entry) find(tile.item.entry[NAME]);
    });

    """#
}
