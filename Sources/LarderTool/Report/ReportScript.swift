/// The page's script. The page's policy contains its digest.
///
/// It uses no framework, and all its state is declared in its parts. Data enters the page as
/// `textContent`, `title` or pixels, never as markup.
enum ReportScript {
  /// The whole script. Each part stands after the parts that it uses.
  static let text = "\n\"use strict\";\n" + basics + treemap + charts + findings + table + start

  /// The last part, which draws everything, and again after a resize what depends on the width.
  private static let start = #"""
    showTotals();
    if (entries.length) {
      showLegend();
      drawMap();
      showUses();
      showExpiries();
      showEviction();
      showProblems();
      showTable();
    } else {
      showEmptiness();
    }
    let waiting = 0;
    addEventListener("resize", () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => { if (entries.length) { drawMap(); drawRows(); } });
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      if (entries.length) drawMap();
    });
    addEventListener("hashchange", followFragment);
    if (entries.length) followFragment();
    // When the page is usable, in milliseconds since it was opened.
    document.documentElement.dataset.ready = Math.round(performance.now());

    """#
}
