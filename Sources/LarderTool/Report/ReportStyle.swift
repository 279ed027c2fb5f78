/// The page's style sheet. The page's policy contains its digest.
enum ReportStyle {
  /// The whole style sheet.
  static let text = colours + layout + parts + table

  /// The colours: one scale from expired to never, whose neighbours differ visibly, in a light and
  /// a dark variant.
  private static let colours = """

    :root { --page: #f6f5f2; --card: #fff; --ink: #1e2327; --soft: #5c666e; --line: #dcdfe1;
      --accent: #14639e; --bad: #b3261e; --c0: #e0766e; --c1: #e08b3c; --c2: #e3bf4a;
      --c3: #8dba5f; --c4: #3f9d7f; --c5: #6ba6d3; --c6: #8a84b8; --label: #14181b;
      --idle: #b9a68c; }
    @media (prefers-color-scheme: dark) { :root { --page: #15181b; --card: #1e2327; --ink: #e6e9eb;
      --soft: #9aa5ad; --line: #343b41; --accent: #6cb4ea; --bad: #ff8a80; --c0: #d0665e;
      --c1: #c98144; --c2: #c2a549; --c3: #7fa457; --c4: #3d8f75; --c5: #4a8cb9; --c6: #7d78a8;
      --label: #0d1012; --idle: #8b7a62; } }

    """

  private static let layout = """
    * { box-sizing: border-box; }
    body { margin: 0 auto; padding: 20px; max-width: 1280px; background: var(--page);
      color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
    h1 { margin: 0; font-size: 22px; }
    h2 { margin: 0 0 10px; font-size: 15px; font-weight: 600; }
    p { margin: 4px 0; }
    section { margin: 0 0 16px; padding: 16px; background: var(--card);
      border: 1px solid var(--line); border-radius: 8px; min-width: 0; }
    .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; }
    header { margin-bottom: 16px; }
    #made { margin-bottom: 14px; }
    .path { color: var(--soft); overflow-wrap: anywhere; }
    footer { color: var(--soft); font-size: 13px; }
    [hidden] { display: none !important; }
    @media (max-width: 700px) { body { padding: 12px; } section { padding: 12px; }
      .pair { grid-template-columns: minmax(0, 1fr); gap: 0; } }

    """

  private static let parts = """
    .totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 10px;
      margin: 0; }
    .total { padding: 10px 12px; background: var(--card); border: 1px solid var(--line);
      border-radius: 8px; }
    .total b { display: block; font-size: 19px; font-variant-numeric: tabular-nums; }
    .total span, .axis, .scale, .note, summary { color: var(--soft); font-size: 13px; }
    .total.bad b { color: var(--bad); }
    .legend { display: flex; flex-wrap: wrap; gap: 4px 14px; margin-bottom: 8px; font-size: 13px; }
    .swatch { display: inline-block; width: 11px; height: 11px; margin-right: 5px;
      border-radius: 2px; }
    .swatch.damaged { background: repeating-linear-gradient(135deg, var(--line) 0 2px,
      var(--ink) 2px 4px); }
    code { font-family: ui-monospace, monospace; color: var(--ink); overflow-wrap: anywhere; }
    details { margin-top: 8px; }
    summary { cursor: pointer; }
    details table { margin-top: 6px; border-collapse: collapse; font-size: 13px;
      font-variant-numeric: tabular-nums; }
    th, td { padding: 1px 14px 1px 0; text-align: left; }
    .map { position: relative; height: 380px; }
    .map.single { height: 60px; }
    .map canvas { width: 100%; height: 100%; cursor: pointer; }
    #tip { position: absolute; max-width: 320px; padding: 6px 9px; pointer-events: none;
      background: var(--ink); color: var(--card); border-radius: 5px; font-size: 13px;
      overflow-wrap: anywhere; white-space: pre-line; z-index: 1; }
    .bars { display: flex; align-items: flex-end; gap: 1px; height: 130px;
      border-bottom: 1px solid var(--line); }
    .bars div { flex: 1; min-width: 0; border-radius: 2px 2px 0 0; background: var(--accent); }
    .axis { position: relative; height: 20px; margin-top: 4px; }
    .axis span { position: absolute; white-space: nowrap; }
    .swatch.idle { background: var(--idle); }
    .stack { display: flex; height: 22px; margin: 8px 0; border-radius: 4px; overflow: hidden;
      background: var(--line); }
    .scale { margin: 0 0 4px; }
    .list { columns: 2; margin: 6px 0; padding-left: 18px; overflow-wrap: anywhere; }
    @media (max-width: 700px) { .list { columns: 1; } .map { height: 320px; }
      .totals { grid-template-columns: 1fr 1fr; }
      .total:last-child:nth-child(odd) { grid-column: 1 / -1; } }

    """

  private static let table = """
    .tools { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin-bottom: 10px; }
    input { flex: 1 1 220px; min-width: 0; padding: 7px 10px; font: inherit; color: inherit;
      background: var(--page); border: 1px solid var(--line); border-radius: 6px; }
    button { font: inherit; color: inherit; background: none; border: 0; padding: 0;
      cursor: pointer; }
    .filters { display: flex; flex-wrap: wrap; gap: 6px; }
    .filters button, .show { padding: 4px 10px; border: 1px solid var(--line);
      border-radius: 14px; font-size: 13px; }
    .filters button[aria-pressed=true] { background: var(--accent); color: var(--card);
      border-color: var(--accent); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    #found { color: var(--soft); font-size: 13px; }
    .rows { position: relative; overflow-y: auto; scrollbar-gutter: stable;
      border-top: 1px solid var(--line); }
    .row { display: grid;
      grid-template-columns: minmax(0, 3fr) 92px 104px 112px 80px 90px minmax(0, 2fr);
      gap: 12px; height: 28px; line-height: 28px; padding: 0 6px; }
    .titles { scrollbar-gutter: stable; overflow-y: hidden; font-size: 13px; font-weight: 600; }
    .rows .row { position: absolute; left: 0; right: 0; cursor: pointer; }
    .rows .row:hover, .rows .row.chosen { background: var(--page); }
    .row > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: left; }
    .dataless .row {
      grid-template-columns: minmax(0, 3fr) 92px 104px 112px 80px minmax(0, 2fr); }
    .dataless .data { display: none; }
    .rows .key { display: flex; white-space: pre; }
    .start { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: pre; }
    .end { flex: none; white-space: pre; }
    .row > .number { text-align: right; font-variant-numeric: tabular-nums; }
    .mark { flex: none; align-self: center; line-height: 18px; margin-right: 6px;
      padding: 0 5px; border: 1px solid; border-radius: 4px;
      font-size: 12px; font-weight: 600; color: var(--soft); }
    .mark.bad { color: var(--bad); }
    .titles button { font-weight: 600; }
    .rows .name { font-family: ui-monospace, monospace; font-size: 12px; color: var(--soft); }
    dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 3px 14px; margin: 12px 0 0;
      font-size: 14px; }
    dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
    @media (max-width: 700px) {
      .row, .dataless .row { grid-template-columns: minmax(0, 1fr) 80px 98px; gap: 8px;
        font-size: 13px; }
      .row > .used, .row > .lifetime, .row > .data, .row > .name { display: none; } }

    """
}
