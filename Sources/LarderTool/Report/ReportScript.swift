/// The page's script, as one text whose digest the policy names.
///
/// It has no framework and no state but what its parts declare. Everything from the data enters the
/// page as `textContent`, `title` or pixels, never as markup.
enum ReportScript {
  /// All of it, in the order in which the parts use each other.
  static let text = "\n\"use strict\";\n" + basics + treemap + charts + findings + table + start

  /// Draws everything, and what depends on the width again when it changes.
  private static let start = #"""
    showTotals();
    showLegend();
    drawMap();
    showUses();
    showExpiries();
    showEviction();
    showProblems();
    showTable();
    let waiting = 0;
    addEventListener("resize", () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => { drawMap(); drawRows(); });
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawMap);
    addEventListener("hashchange", followFragment);
    followFragment();
    // When the page is usable, in milliseconds since it was opened.
    document.documentElement.dataset.ready = Math.round(performance.now());

    """#
}
