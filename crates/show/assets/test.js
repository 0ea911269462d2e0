// The page of a test: its parametrisations in one chart for each variant, and a table, by one metric at a time.
(function () {
  "use strict";

  const { settings, load, unpacked, column, fromColumns, element, readHash, writeHash, figure } = window.lapwing;
  const { scaleOf, plainNumber } = window.lapwingChart;

  // So many lines are drawn of what is searched for, unless all are asked for.
  const atMost = 24;
  const rowsAtOnce = 30;
  const form = document.getElementById("filters");
  const shownText = document.getElementById("shown");
  let figures = [];
  let current = null;
  let turn = 0;

  // --- What the side files say.

  async function contentOf(metric) {
    const content = await load(metric.file);
    const names = unpacked(content.name);
    return {
      ...content,
      metric: metric.name,
      title: metric.name.replaceAll("_", " "),
      places: unpacked(content.places),
      sessions: unpacked(content.sessions),
      members: unpacked(content.slug).map((slug, at) => ({ at, slug, name: names[at] })),
      rows: fromColumns(content.rows),
    };
  }

  // Everybody's lines are in pieces; those that are drawn at first came with the metric's file.
  async function linesOf(content, members) {
    const here = new Map(content.lines.map((it) => [it.member, it]));
    const missing = members.filter((at) => !here.has(at));
    const files = new Set(missing.map((at) => content.pieces.findLast(([, first]) => first <= at)?.[0]).filter(Boolean));
    for (const file of files) {
      for (const it of await load(file)) here.set(it.member, it);
    }
    return members.map((at) => here.get(at)).filter(Boolean);
  }

  // --- The chart of a variant.

  const dimensions = ["place", "value", "lower", "upper", "instances", "run"];
  const threeDigits = (value) => plainNumber(Number(value.toPrecision(3)));

  function chartOf(content, variant, drawn) {
    const lines = drawn.flatMap(({ member, lines: all }, colour) =>
      all.filter((line) => line.variant === variant).map((line) => ({ ...line, colour, name: content.members[member].name, slug: content.members[member].slug })));
    const failed = drawn.flatMap(({ member, failed: all = [] }, colour) =>
      all.filter(([of]) => of === variant).map(([, place, failures]) => ({ colour, place, failures, name: content.members[member].name })));
    const [factor, unit] = scaleOf(Math.max(0, ...lines.flatMap((line) => line.value.map((it) => Math.abs(it ?? 0)))), content.unit);
    const few = lines.length <= atMost;
    const known = [];
    const texts = [];
    const links = [];
    const dataset = lines.map((line) => {
      const [instances, runs, versions] = [column(line.instances), column(line.run), column(line.version)];
      const scaled = (all) => line.value.map((_, at) => (Number.isFinite(all?.[at]) ? Number((all[at] / factor).toPrecision(6)) : null));
      const source = { place: line.place, value: scaled(line.value), lower: scaled(line.lower), upper: scaled(line.upper), instances, run: [] };
      line.place.forEach((place, at) => {
        source.run.push(texts.length);
        const interval = source.lower[at] === null ? "" : ` (95 % CI ${threeDigits(source.lower[at])}–${threeDigits(source.upper[at])})`;
        texts.push(`${threeDigits(source.value[at])} ${unit}${interval}${line.summaries ? ", a summary of the source" : ""}${line.retired ? ", retired" : ""}`);
        known.push([content.sessions[place], content.variants[variant], versions[at], runs[at]]);
        links.push(`../benchmark/${line.slug}.html#${new URLSearchParams({ metric: content.metric, trace: runs[at] })}`);
      });
      return { dimensions, source };
    });
    const shape = (colour) => ["circle", "rect", "triangle", "diamond"][Math.floor(colour / 7) % 4];
    const series = lines.flatMap((line, at) => [
      ...(line.lower && few ? [{
        name: line.name, type: "custom", datasetIndex: at, encode: { x: "place", y: ["lower", "upper"] },
        renderItem: { $function: "interval", along: "y", cap: content.places.length <= 60 ? 3 : 0 },
        itemStyle: { color: { $color: line.colour }, opacity: line.retired ? 0.25 : 0.6 }, silent: true, clip: true,
      }] : []),
      {
        name: line.name, type: "line", datasetIndex: at, encode: { x: "place", y: "value" },
        symbol: line.retired ? "emptyCircle" : line.summaries ? { $function: "ring" } : shape(line.colour), symbolSize: few ? 6 : 3, showAllSymbol: true,
        color: { $color: line.colour },
        itemStyle: { opacity: line.retired ? 0.5 : 1 },
        lineStyle: { width: 1.25, opacity: few && !line.retired ? 0.6 : 0.35, type: line.retired ? "dotted" : line.summaries ? "dashed" : "solid" },
        emphasis: { focus: "series", lineStyle: { width: 2.5, opacity: 1 } }, blur: { lineStyle: { opacity: 0.1 }, itemStyle: { opacity: 0.15 } },
      },
    ]);
    if (failed.length) {
      const above = new Map();
      const rows = failed.map((it) => {
        const number = above.get(it.place) ?? 0;
        above.set(it.place, number + 1);
        return { ...it, number };
      });
      series.push({ name: "failures", type: "custom", datasetIndex: dataset.length, encode: { x: "place", y: "value" }, renderItem: { $function: "cross" }, itemStyle: { color: { $function: "colourOfRow" } }, clip: true, z: 4 });
      const run = rows.map(({ place, name }) => {
        known.push([content.sessions[place], content.variants[variant], "", ""]);
        texts.push("");
        links.push("");
        return { place, name };
      });
      dataset.push({
        dimensions: ["place", "value", "run", "failures", "above", "colour"],
        source: {
          place: rows.map((it) => it.place), value: rows.map(() => null), run: run.map((_, at) => texts.length - run.length + at),
          failures: rows.map((it) => it.failures), above: rows.map((it) => it.number), colour: rows.map((it) => it.colour),
        },
      });
    }
    const marks = content.marks[variant];
    if (marks) series.push(marks.series);
    const named = content.variants.length > 1 || content.variants[variant] !== "default";
    const withNames = lines.flatMap((line) => line.place.map(() => line.name)).concat(failed.map((it) => it.name));
    return {
      id: "history",
      title: named ? `${content.title}: ${content.variants[variant]}` : `${content.title}: run by run`,
      subtitle: [
        lines.length ? drawn.length > 1 ? `A line for each of ${counted(drawn.length)}.` : "One parametrisation." : "Nothing to draw: no run has a value.",
        few && lines.some((line) => line.lower) ? "The bars are 95 % confidence intervals." : "",
        failed.length ? "× at the foot are runs with failures." : "",
        lines.length ? content.order : "",
        lines.some((line) => line.retired) ? "Pale and dotted: retired runs, excluded from analysis." : "",
        marks?.text,
        lines.length ? "Click a point to see its run." : "",
      ].filter(Boolean).join(" "),
      height: 380,
      links,
      csv: {
        unit,
        heads: ["session", "variant", "version", "run"],
        columns: [0, 1, 2, 3].map((of) => known.map((it) => it[of])),
      },
      option: {
        dataset,
        grid: { left: 16, right: 24, top: 34, bottom: 12, outerBoundsMode: "same", outerBoundsContain: "all" },
        legend: { show: lines.length > 1, data: [...new Set(lines.map((line) => line.name))], top: 0, left: 12, type: "scroll" },
        xAxis: { type: "category", data: content.places, axisLabel: { hideOverlap: true }, axisTick: { alignWithLabel: true }, axisLine: { onZero: false } },
        yAxis: {
          type: "value", scale: true, name: unit ? `${content.title} (${unit})` : content.title, nameLocation: "end", nameGap: 12,
          nameTextStyle: { align: "left" }, axisLine: { onZero: false }, axisLabel: { $function: "plainNumber" },
        },
        tooltip: {
          trigger: "item",
          formatter: { $function: "tooltip", fields: [
            { label: "", column: "run", names: withNames },
            { label: "run", column: "run", names: known.map(([session, , version]) => [session, version].filter(Boolean).join(", ")) },
            { label: content.title, column: "run", names: texts },
            { label: "instances", column: "instances" },
            { label: "failures", column: "failures" },
          ] },
        },
        series,
      },
    };
  }

  // --- The table.

  function showTable(content, found) {
    const place = document.querySelector("#members .content");
    const rows = content.rows.filter((row) => found.has(row.member));
    const body = element("tbody");
    const button = element("button", { type: "button", onclick: more }, "Show more");
    let drawn = 0;
    let before;
    function more() {
      for (const row of rows.slice(drawn, drawn + rowsAtOnce)) {
        body.append(tableRow(content, row, row.member !== before));
        before = row.member;
      }
      drawn = Math.min(drawn + rowsAtOnce, rows.length);
      button.hidden = drawn >= rows.length;
    }
    const heads = [["parametrisation", ""], [`latest ${content.title} [95 % CI]`, "number"], ["change", "number"], ["instances × iterations", "number"]];
    place.replaceChildren(
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of parametrisations" },
        element("table", {}, element("thead", {}, element("tr", {}, ...heads.map(([head, kind]) => element("th", { scope: "col", class: kind || undefined }, head)))), body)),
      element("p", { class: "buttons" }, button));
    more();
  }

  function tableRow(content, row, first) {
    const member = content.members[row.member];
    const link = element("a", { class: "long-name", href: `../benchmark/${member.slug}.html#${new URLSearchParams({ metric: content.metric })}`, title: member.name }, member.name);
    return element("tr", {},
      element("td", {}, first ? link : "", row.named ? element("span", { class: "of-variant" }, row.variant) : ""),
      element("td", { class: "number" }, row.value, row.interval ? ` [${row.interval}]`.replace(/\[(±.*)\]/, "$1") : "",
        row.retired ? element("small", { class: "attention" }, " retired") : ""),
      element("td", { class: "number", title: row.change_against || undefined }, row.change),
      element("td", { class: "number" }, row.size));
  }

  // --- What is wanted, which stands in the address.

  const metricWanted = () => settings.metrics.find((it) => it.name === readHash().get("metric")) ?? settings.metrics[0];

  // Those that were measured by the metric.
  const measured = (content) => {
    const known = new Set(content.rows.map((row) => row.member));
    return content.members.filter(({ at }) => known.has(at));
  };

  const counted = (number) => (number === 1 ? "1 parametrisation" : `${number.toLocaleString("en")} parametrisations`);

  function offer(content) {
    const offered = [...content.choices.map(([text]) => text)];
    if (!offered.includes("all")) offered.push("all");
    const wanted = readHash().get("draw");
    form.elements.draw.replaceChildren(...offered.map((text) => element("option", { value: text, selected: text === wanted }, text === "all" ? `all ${measured(content).length.toLocaleString("en")}` : text)));
    form.elements.q.value = readHash().get("q") ?? "";
  }

  function keep() {
    const draw = form.elements.draw;
    writeHash({ metric: readHash().get("metric"), q: form.elements.q.value, draw: draw.selectedIndex > 0 ? draw.value : "" });
  }

  async function redraw(content) {
    turn += 1;
    const now = turn;
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = measured(content);
    const fits = all.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    const chosen = form.elements.draw.value === "all" ? undefined : content.choices.find(([text]) => text === form.elements.draw.value)?.[1];
    let wanted = fits.map(({ at }) => at);
    if (chosen) wanted = words.length ? wanted.slice(0, atMost) : chosen;
    const drawn = await linesOf(content, wanted);
    if (now !== turn) return;
    const without = content.members.length - all.length;
    shownText.textContent = [
      !words.length ? (chosen ? `${chosen.length} of ${counted(all.length)} drawn: search, or draw all` : `${counted(all.length)}, drawn together`)
        : !fits.length ? `None of ${counted(all.length)} fits: clear the search`
          : `${fits.length.toLocaleString("en")} of ${counted(all.length)}` + (wanted.length < fits.length ? `; the first ${wanted.length} are drawn, unless you choose all` : ""),
      without ? `; ${without.toLocaleString("en")} more without ${content.title}` : "",
      ".",
    ].join("");
    for (const it of figures) it.dispose();
    const variants = content.variants.map((_, variant) => variant).filter((variant) => drawn.some(({ lines, failed = [] }) => lines.some((line) => line.variant === variant) || failed.some(([it]) => it === variant)));
    figures = document.querySelector("#charts .charts").hidden ? [] : variants.map((variant, at) => figure(chartOf(content, variant, drawn), `${settings.slug}-${content.metric.replace(/[^\w.-]+/g, "_")}-${at + 1}`));
    document.querySelector("#charts .charts").replaceChildren(...figures.map((it) => it.section));
    if (!figures.length) document.querySelector("#charts .charts").replaceChildren(element("p", { class: "hint" }, "Nothing to draw: no run has a value."));
    showTable(content, new Set(fits.map(({ at }) => at)));
  }

  // The curve of the values by level, where the parametrisations differ in one number. It is first in a single session,
  // whose histories would be points.
  let curve;

  async function showSweep(content, metric) {
    const chart = (await load(settings.sweeps))[metric.name];
    const place = document.getElementById("sweep");
    curve?.dispose();
    curve = chart && figure(chart, `${settings.slug}-${metric.name.replace(/[^\w.-]+/g, "_")}`);
    place.replaceChildren(...(curve ? [curve.section] : []));
    place.hidden = !curve;
    const histories = document.querySelector("#charts .charts");
    histories.hidden = curve && content.places.length === 1;
    if (!histories.hidden) histories.after(place);
    else histories.before(place);
  }

  function failed(error) {
    current = null;
    document.querySelector("#charts .charts").replaceChildren(element("p", { class: "attention" }, error.message));
  }

  async function show() {
    const metric = metricWanted();
    if (!metric) return;
    for (const link of document.querySelectorAll("[data-metric]")) {
      if (link.dataset.metric === metric.name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    try {
      const content = await contentOf(metric);
      if (metric !== metricWanted()) return;
      current = content;
      document.querySelector("#charts .notes").replaceChildren(...content.notes.map((note) => element("p", { class: "hint" }, note)));
      offer(content);
      await showSweep(content, metric);
      await redraw(content);
    } catch (error) {
      failed(error);
    }
  }

  let typing;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    keep();
    clearTimeout(typing);
    typing = setTimeout(() => { if (current) redraw(current).catch(failed); }, 120);
  });
  window.addEventListener("hashchange", show);
  show();
})();
