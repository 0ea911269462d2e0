// The page with bars: charts of what the filters let pass, a dozen at a time, kept in the address.
(function () {
  "use strict";

  const { settings, load, element, readHash, writeHash, figure } = window.lapwing;
  const { shortened } = window.lapwingChart;
  const form = document.getElementById("filters");
  const place = document.getElementById("bars");
  if (!form || !place) return;
  const buttons = [...document.querySelectorAll("[data-group]")];
  const atOnce = 12;
  const barsOfChart = 60;
  const lettersBeside = 48;
  let group = buttons[0].dataset.group;
  let figures = [];
  let turn = 0;

  const metricOf = () => settings.metrics.find(({ name }) => name === form.elements.metric?.value) ?? settings.metrics[0];

  // Returns every bar of a side file with what it is about.
  function barsOf({ bars, benchmarks, settings: variants, units, origins }) {
    return bars.benchmark.map((at, row) => {
      const bar = Object.fromEntries(Object.keys(bars).map((name) => [name, bars[name][row]]));
      const about = Object.fromEntries(Object.keys(benchmarks).map((name) => [name, benchmarks[name][at]]));
      const [versions, measured] = origins[bar.origin];
      const { name: setting, colour } = variants[bar.setting];
      return { ...bar, ...about, setting, colour, versions, measured, ...units[bar.unit] };
    });
  }

  // Returns the bars that stand in one chart each, in the order in which they come.
  function grouped(bars, keyOf) {
    const charts = new Map();
    for (const bar of bars) {
      const key = JSON.stringify(keyOf(bar));
      if (!charts.has(key)) charts.set(key, []);
      charts.get(key).push(bar);
    }
    return [...charts.values()];
  }

  // Returns title, link and bars of every chart that the filters let pass.
  function chartsOf(data) {
    const { q, suite, tag, category } = Object.fromEntries(new FormData(form));
    const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (bars) => {
      const text = bars.map((bar) => `${bar.suite} ${bar.id} ${bar.setting}`).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const all = barsOf(data);
    const severalSuites = new Set(data.benchmarks.suite).size > 1;
    // Numbers of different units have no scale in common.
    const inUnit = ({ unit }) => (data.units.length > 1 ? `, in ${unit === "" || unit === "1" ? "numbers" : unit}` : "");
    const bars = all.filter((bar) => (!suite || bar.suite === suite) && (!category || bar.category === category) && (!tag || bar.tags.includes(tag)));
    if (group === "benchmark") {
      return grouped(bars, (bar) => [bar.benchmark, bar.unit])
        .filter((of) => of.length > 1 && fits(of))
        .map((of) => ({
          title: (severalSuites ? `${of[0].suite}: ` : "") + of[0].id + inUnit(of[0]),
          slug: of[0].slug,
          bars: of.map((bar) => ({ ...bar, name: bar.setting })),
        }));
    }
    return grouped(bars.filter((bar) => fits([bar])), (bar) => [bar.setting, bar.suite, bar.category, bar.unit]).flatMap((of) => {
      const { setting, suite: itsSuite, category: folder } = of[0];
      const where = folder && severalSuites ? `${itsSuite}, ${folder}` : folder || itsSuite;
      const pieces = Math.ceil(of.length / barsOfChart);
      return Array.from({ length: pieces }, (_, piece) => ({
        title: `${setting}: ${where}${inUnit(of[0])}${pieces > 1 ? `, ${piece + 1} of ${pieces}` : ""}`,
        slug: "",
        bars: of.slice(piece * barsOfChart, (piece + 1) * barsOfChart)
          .map((bar) => ({ ...bar, name: folder ? bar.id.slice(folder.length + 1) : bar.id })),
      }));
    });
  }

  function scaleFor(scales, magnitude) {
    // Half a unit of the third digit is added, so that 999.7 ms are 1.00 s.
    const fitting = scales.findLast(([from, factor]) => (magnitude > 0 ? magnitude * 1.0005 >= from : factor <= 1)) ?? scales[0];
    // Beyond them all the number has an exponent, which goes with the base unit.
    const shown = magnitude / fitting[1];
    const beyond = shown >= 1e9 || (shown > 0 && shown < 1e-4);
    const [, factor, suffix] = (beyond && scales.find(([, worth]) => worth >= 1)) || fitting;
    return { factor, suffix };
  }

  function quantity(value, scales) {
    if (!Number.isFinite(value)) return "–";
    const { factor, suffix } = scaleFor(scales, Math.abs(value));
    const shown = value / factor;
    const size = Math.abs(shown);
    if (size === 0) return `0${suffix}`;
    if (size >= 1e9 || size < 1e-4) return shown.toExponential(2).replace("+", "").replaceAll("-", "−") + suffix;
    return (size >= 999.5 ? String(Math.round(shown)) : shown.toPrecision(3)).replace("-", "−") + suffix;
  }

  // Puts bars into the chart that has none.
  function filled(empty, { title, bars }, metric) {
    const chart = structuredClone(empty);
    const { option } = chart;
    const { scales } = bars[0];
    const spread = (bar, sign) => (bar.sd === null ? null : bar.mean + sign * bar.sd);
    const ends = bars.flatMap((bar) => [bar.median, bar.mean, spread(bar, -1), spread(bar, 1)]).filter(Number.isFinite);
    const { factor, suffix } = scaleFor(scales, Math.max(...ends.map(Math.abs)));
    const scaled = (value) => (value === null ? null : Number((value / factor).toPrecision(6)));
    const names = bars.map((bar) => bar.name + (bar.old ? `, ${bar.old}` : ""));
    const [dataset] = option.dataset;
    const columns = {
      place: (_, at) => at,
      median: (bar) => scaled(bar.median),
      mean: (bar) => scaled(bar.mean),
      low: (bar) => scaled(spread(bar, -1)),
      high: (bar) => scaled(spread(bar, 1)),
      count: (bar) => bar.count,
      pale: (bar) => (bar.old ? 1 : 0),
      run: (_, at) => at,
      colour: (bar) => bar.colour,
    };
    for (const name of dataset.dimensions) dataset.source[name] = bars.map(columns[name]);
    for (const [position, axis] of option.xAxis.entries()) {
      axis.name = metric.name.replaceAll("_", " ") + (suffix.trim() ? ` (${suffix.trim()})` : "");
      axis.show = position === 0 || bars.length > 15;
    }
    option.yAxis.max = bars.length - 0.5;
    option.yAxis.axisLabel.formatter.names = names.map((name) => shortened(name, lettersBeside));
    const told = {
      "": (bar) => bar.name,
      versions: (bar) => bar.versions,
      measured: (bar) => bar.measured,
      ...Object.fromEntries(["sd", "min", "median", "mean", "max"].map((name) => [name, (bar) => quantity(bar[name] ?? NaN, scales)])),
    };
    for (const field of option.tooltip.formatter.fields) {
      if (field.names) field.names = bars.map(told[field.label]);
    }
    const old = bars.filter((bar) => bar.old).length;
    chart.csv = {
      unit: suffix.trim(),
      heads: ["suite", "benchmark", "setting", "versions", "measured"],
      columns: ["suite", "id", "setting", "versions", "measured"].map((name) => bars.map((bar) => bar[name])),
    };
    chart.title = title;
    chart.subtitle = old ? `Pale, with the day: measured more than 7 days before the last session of the suite.` : "";
    chart.height = (bars.length > 15 ? 116 : 76) + 26 * bars.length;
    chart.links = bars.map((bar) => `benchmark/${bar.slug}.html#${new URLSearchParams({ metric: metric.name })}`);
    return chart;
  }

  async function update() {
    turn += 1;
    const now = turn;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.group === group));
    const metric = metricOf();
    try {
      const data = await load(metric.file);
      if (now !== turn) return;
      const charts = chartsOf(data);
      const shown = charts.length === 1 ? "1 chart" : `${charts.length.toLocaleString("en")} charts`;
      const why = group === "benchmark" ? "no benchmark with several variants fits; look by variant, or clear a filter" : "nothing fits; clear a filter";
      document.getElementById("shown").textContent = shown + (charts.length ? "" : `: ${why}`);
      for (const it of figures) it.dispose();
      figures = [];
      place.replaceChildren();
      drawFrom(charts, 0, data.chart, metric);
    } catch (error) {
      document.getElementById("shown").textContent = error.message;
    }
  }

  function drawFrom(charts, from, empty, metric) {
    for (const chart of charts.slice(from, from + atOnce)) {
      const drawn = figure(filled(empty, chart, metric), `bars-${chart.slug || chart.title.replace(/[^\w.-]+/g, "_")}`);
      figures.push(drawn);
      if (chart.slug) {
        const link = element("a", { href: `benchmark/${chart.slug}.html#${new URLSearchParams({ metric: metric.name })}` }, chart.title);
        drawn.section.querySelector("h3").replaceChildren(link);
      }
      place.append(drawn.section);
    }
    const left = charts.length - from - atOnce;
    if (left <= 0) return;
    const more = element("p", { class: "buttons" });
    more.append(element("button", { type: "button", onclick() { more.remove(); drawFrom(charts, from + atOnce, empty, metric); } },
      `Draw ${Math.min(left, atOnce)} more of ${left.toLocaleString("en")}`));
    place.append(more);
  }

  function keep() {
    const values = Object.fromEntries(new FormData(form));
    if (values.metric === settings.metrics[0].name) delete values.metric;
    if (group !== buttons[0].dataset.group) values.by = group;
    writeHash(values);
  }

  function fromHash() {
    const values = readHash();
    for (const field of form.elements) {
      if (!field.name) continue;
      field.value = values.get(field.name) ?? "";
      if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
    }
    group = buttons.find((it) => it.dataset.group === values.get("by"))?.dataset.group ?? buttons[0].dataset.group;
    update();
  }

  for (const button of buttons) {
    button.addEventListener("click", () => { group = button.dataset.group; keep(); update(); });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { keep(); update(); });
  form.addEventListener("reset", () => setTimeout(() => { keep(); update(); }));
  window.addEventListener("hashchange", fromHash);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", fromHash);
  else fromHash();
})();
