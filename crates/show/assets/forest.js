// The plot of a comparison: a row for each benchmark, the decided ones first; the others are folded.
(function () {
  "use strict";

  const { settings, load, element, drawing } = window.lapwing;
  const table = document.getElementById("forest");
  const unfolded = new Set();
  let file = null;
  let wanted = {};

  const percent = (logarithm) => `${(50 + (50 * Math.max(-1, Math.min(1, logarithm / file.end)))).toFixed(2)}%`;

  // Two steps of the same size to both sides of 1×; doublings where the axis is long.
  function ticks() {
    if (file.end > Math.LN2) return [1 / 4, 1 / 2, 1, 2, 4].filter((it) => Math.abs(Math.log(it)) < file.end);
    const step = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((it) => file.end < 3 * Math.log1p(it));
    return [-2, -1, 0, 1, 2].map((it) => 1 + it * step).filter((it) => it > 0 && Math.abs(Math.log(it)) < file.end);
  }

  function axis() {
    return drawing("svg", { class: "forest-axis", "aria-hidden": "true" }, ...ticks().flatMap((ratio) => {
      const x = percent(Math.log(ratio));
      return [drawing("text", { x, y: 11 }, `${Number(ratio.toPrecision(4))}×`), drawing("line", { x1: x, x2: x, y1: 15, y2: 20 })];
    }));
  }

  function plot(cell) {
    if (!cell || cell.ratio === null) return "";
    const middle = 11;
    const at = Math.log(cell.ratio);
    const title = `${cell.ratio_text} ${cell.interval_text}`;
    const half = (50 * Math.min(file.band, file.end)) / file.end;
    const parts = [
      drawing("rect", { class: "band", x: `${50 - half}%`, y: 0, height: 2 * middle, width: `${2 * half}%` }),
      drawing("line", { class: "one", x1: "50%", x2: "50%", y1: 0, y2: 2 * middle }),
    ];
    if (cell.lower !== null && cell.upper !== null) parts.push(drawing("line", { class: "whisker", x1: percent(Math.log(cell.lower)), x2: percent(Math.log(cell.upper)), y1: middle, y2: middle }));
    const beyond = at > file.end ? -6 : at < -file.end ? 6 : 0;
    if (beyond) parts.push(drawing("svg", { x: percent(at), class: "forest-end" }, drawing("path", { class: "beyond", d: `M${beyond},${middle - 5}L0,${middle}L${beyond},${middle + 5}` })));
    else parts.push(drawing("circle", { class: "dot-of-ratio", cx: percent(at), cy: middle, r: 4.5 }));
    return drawing("svg", { class: `forest-plot ${cell.verdict}`, role: "img", "aria-label": title }, drawing("title", {}, title), ...parts);
  }

  // A bar from 1× to the ratio, on the same axis; grey unless it is news.
  function bar(cell) {
    if (!cell) return "";
    if (cell.ratio === null) return element("span", { title: cell.words }, "–");
    const share = Math.min(1, Math.abs(Math.log(cell.ratio)) / file.end);
    const x = cell.ratio < 1 ? 30 - 28 * share : 30;
    return element("span", { class: `small-bar ${cell.verdict}`, title: `${cell.ratio_text} ${cell.interval_text}; ${cell.words}` },
      drawing("svg", { width: 60, height: 14, "aria-hidden": "true" },
        drawing("line", { class: "one", x1: 30, x2: 30, y1: 0, y2: 14 }),
        drawing("rect", { x, y: 3, width: Math.max(1, 28 * share), height: 8 })), ` ${cell.ratio_text}`);
  }

  function chip(verdict) {
    const [symbol, title] = file.verdicts[verdict];
    return element("span", { class: `chip ${verdict}` }, element("span", { "aria-hidden": "true" }, symbol), ` ${title}`);
  }

  function line(row) {
    const [first, ...others] = row.cells;
    const cell = (name, ...children) => element("td", { class: name }, ...children);
    const about = [row.setting, file.several_candidates ? row.candidate : ""].filter(Boolean).join(" · ");
    return element("tr", {},
      element("th", { scope: "row", class: "name" }, element("a", { href: `benchmark/${row.slug}.html`, title: row.id }, row.id), about ? element("small", {}, ` ${about}`) : ""),
      cell("forest", plot(first)),
      cell("number ratio", first ? element("strong", {}, first.ratio_text || "–") : "", " ", first?.interval_text ? element("small", {}, first.interval_text) : ""),
      cell("number on-demand", first ? `${first.values[0]} → ${first.values[1]}` : ""),
      ...others.map((other) => cell("number bar-cell", bar(other))),
      cell("verdict", chip(row.verdict), " ", element("small", {}, first && row.verdict === first.verdict ? more(first) : "")));
  }

  // What the chip does not say of the verdict.
  function more(cell) {
    const [, title] = file.verdicts[cell.verdict];
    return cell.words.startsWith(title) ? cell.words.slice(title.length).replace(/^[:;,]?\s*/, "") : cell.words;
  }

  function draw() {
    const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (row) => words.every((word) => `${row.suite} ${row.id} ${row.setting} ${row.candidate}`.toLowerCase().includes(word)) && (!wanted.suite || row.suite === wanted.suite);
    const rows = file.rows.filter(fits);
    const [, ...others] = file.metrics;
    const columns = 5 + others.length;
    const place = element("th", { scope: "col", class: "forest" }, element("span", { class: "unseen" }, "interval of the ratio"));
    place.append(axis());
    table.tHead.replaceChildren(element("tr", {},
      element("th", { scope: "col" }, "benchmark"), place,
      element("th", { scope: "col", class: "number" }, file.metrics[0]),
      element("th", { scope: "col", class: "number on-demand" }, "baseline → candidate"),
      ...others.map((metric) => element("th", { scope: "col", class: "number bar-cell" }, metric)),
      element("th", { scope: "col", class: "verdict" }, "verdict")));
    const body = table.tBodies[0];
    body.replaceChildren(...rows.filter((row) => row.group === "decided").map(line));
    for (const { group, text } of file.folds) {
      const folded = rows.filter((row) => row.group === group);
      if (!folded.length) continue;
      const isOpen = unfolded.has(group) || words.length > 0;
      const button = element("button", {
        type: "button", "aria-expanded": String(isOpen), "data-fold": group,
        onclick() {
          if (!unfolded.delete(group)) unfolded.add(group);
          draw();
          table.querySelector(`[data-fold="${group}"]`)?.focus();
        },
      }, text);
      body.append(element("tr", { class: "fold" }, element("td", { colspan: columns }, button)));
      if (isOpen) body.append(...folded.map(line));
    }
    if (!rows.length) body.append(element("tr", {}, element("td", { colspan: columns }, "Nothing fits; clear a filter.")));
  }

  const values = document.querySelector('[data-action="values"]');
  values.addEventListener("click", () => {
    const shown = table.classList.toggle("with-values");
    values.setAttribute("aria-pressed", String(shown));
  });
  window.addEventListener("beforeprint", () => {
    if (!file) return;
    for (const { group } of file.folds) unfolded.add(group);
    draw();
  });

  window.lapwing.views = {
    ...window.lapwing.views,
    async plot(now) {
      wanted = now;
      file = await load(settings.forest);
      draw();
    },
  };
})();
