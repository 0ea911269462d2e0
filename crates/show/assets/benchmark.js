// The page of a benchmark: its charts and tables.
(function () {
  "use strict";

  const { settings, load, unpacked, tableRows, element, marked, save, csvLine, readHash, writeHash, colour, paintDots, figure, runDetails } = window.lapwing;

  const stem = settings.slug;
  // So many runs are in the table at first, and so many more come at a click.
  const [atFirst, atOnce] = [12, 100];
  let handles = [];
  let current = null;
  let runs = null;
  paintDots();

  function wantedMetric() {
    const name = readHash().get("metric");
    return settings.metrics.find((metric) => metric.name === name) ?? settings.metrics[0];
  }

  async function showMetric() {
    const metric = wantedMetric();
    if (!metric) return;
    if (metric === current) {
      traceFromHash();
      return;
    }
    current = metric;
    for (const link of document.querySelectorAll("[data-metric]")) {
      if (link.dataset.metric === metric.name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    document.getElementById("charts-title").textContent = metric.name.replaceAll("_", " ");
    const place = document.querySelector("#charts .charts");
    const below = document.querySelector("#more-charts .charts");
    try {
      const content = await load(metric.file);
      if (metric !== current) return;
      for (const handle of handles) handle.dispose();
      handles = [];
      place.replaceChildren();
      below.replaceChildren();
      document.querySelector("#charts .notes").replaceChildren(...content.notes.map((note) => element("p", { class: "hint" }, ...marked(note))));
      // The history and the latest distribution, or what there is in their place; the others are below the table.
      const isFirst = ({ id }) => ["history", "distribution"].includes(id);
      const first = content.charts.some(isFirst) ? content.charts.filter(isFirst) : content.charts.slice(0, 1);
      const others = content.charts.filter((chart) => !first.includes(chart));
      for (const chart of first) place.append(draw(chart, metric));
      if (settings.folded && others.length) below.append(folded(others, metric));
      else for (const chart of others) below.append(draw(chart, metric));
      below.parentElement.hidden = !others.length;
      showSweep().catch(() => {});
      runs = listOfRuns(content);
      await showRuns(runs);
      if (metric !== current) return;
      traceFromHash();
      if (settings.burn_in?.metric === metric.name) {
        const burnIn = await load(settings.burn_in.file);
        if (metric === current) {
          below.append(draw(burnIn, metric));
          below.parentElement.hidden = false;
        }
      }
    } catch (error) {
      place.replaceChildren(element("p", { class: "attention" }, error.message));
    }
  }

  function draw(chart, metric) {
    const stemOfMetric = `${stem}-${metric.name.replace(/[^\w.-]+/g, "_")}`;
    const hasOlder = chart.id === "iterations" && metric.older?.length;
    const drawn = figure(chart, stemOfMetric, hasOlder ? (replace) => [olderRuns(metric, chart, replace)] : undefined);
    handles.push(drawn);
    return drawn.section;
  }

  // The parts that are read last come with the data.
  async function showRest() {
    const place = document.getElementById("rest");
    place.innerHTML = await load(settings.rest);
    place.replaceWith(...place.childNodes);
    paintDots();
    // A source that kept no samples has no iterations to show.
    document.querySelector('[data-action="show-raw"]')?.addEventListener("click", showRaw);
    document.querySelector('[data-action="save-raw"]')?.addEventListener("click", saveRaw);
  }

  // Charts that are drawn when their fold is opened: before, they have no width.
  function folded(charts, metric) {
    const titles = charts.map(({ title }) => title.split(": ").at(-1)).join(", ");
    const fold = element("details", {}, element("summary", {}, `${charts.length} more ${charts.length === 1 ? "chart" : "charts"}: ${titles}`));
    fold.addEventListener("toggle", () => {
      const inside = element("div", { class: "charts" });
      fold.append(inside);
      inside.append(...charts.map((chart) => draw(chart, metric)));
    }, { once: true });
    return fold;
  }

  // Iterations of older runs stay in their file until somebody asks for them.
  function olderRuns(metric, latest, draw) {
    const choice = element("select", { "aria-label": "Runs to draw" }, element("option", { value: "" }, metric.latest));
    const offer = element("option", { value: "load" }, "older runs …");
    choice.append(offer);
    const groups = [];
    let loaded = 0;
    choice.addEventListener("change", async () => {
      if (choice.value === "") return draw(latest);
      if (choice.value === "load") {
        const first = groups.length;
        groups.push(...await load(metric.older[loaded]));
        loaded += 1;
        offer.remove();
        groups.slice(first).forEach((group, number) => choice.append(element("option", { value: String(first + number) }, group.label)));
        if (loaded < metric.older.length) {
          offer.textContent = "still older runs …";
          choice.append(offer);
        }
        choice.value = String(first);
      }
      return draw(groups[Number(choice.value)].chart);
    });
    return choice;
  }

  // The curve of the values by level, where parametrisations of the test differ in one number and have no history.
  let loadSweeps = Promise.resolve({});
  let curve;

  async function showSweep() {
    const metric = current;
    const chart = (await loadSweeps)[metric?.name];
    if (metric !== current) return;
    const place = document.querySelector("#charts .charts");
    curve?.section.remove();
    curve?.dispose();
    curve = chart && !place.querySelector("[data-chart=history]") && figure(chart, `${stem}-${metric.name.replace(/[^\w.-]+/g, "_")}`);
    if (curve) place.prepend(curve.section);
  }

  // --- Runs, and what their numbers rest on.

  function idsOfHistory(charts) {
    const { fields } = charts.find(({ id }) => id === "history").option.tooltip.formatter;
    const { heads, joined } = fields.find((field) => field.joined);
    return unpacked(joined[heads.indexOf("run")]);
  }

  // The runs, newest first. The newest came with the metric's file; the others have files of their own.
  function listOfRuns({ run_ids, charts, runs, more_runs }) {
    const newest = tableRows(runs);
    const ids = unpacked(run_ids) ?? idsOfHistory(charts).toReversed();
    const pieces = [{ first: 0, rows: () => Promise.resolve(newest) }, ...more_runs.map(([file, first]) => ({ first, rows: async () => tableRows(await load(file)) }))];
    return {
      count: ids.length,
      async at(position) {
        const piece = pieces.findLast(({ first }) => first <= position);
        return (await piece.rows())[position - piece.first];
      },
      // An id may be given by its end.
      position: (id) => ids.findIndex((known) => id.endsWith(known)),
    };
  }

  async function showRuns(runs) {
    const place = document.querySelector("#runs .content");
    const body = element("tbody");
    const first = await Promise.all(Array.from({ length: Math.min(atFirst, runs.count) }, (_, at) => runs.at(at)));
    const named = settings.named || first.some((run) => run.variant !== "default");
    let drawn = 0;
    const more = element("p", { class: "buttons" });
    // The first few are seen beside the charts; who wants older ones wants many.
    async function drawMore(number) {
      const last = Math.min(drawn + number, runs.count);
      for (const button of more.children) button.disabled = true;
      for (; drawn < last; drawn += 1) body.append(runRow(await runs.at(drawn), drawn, named));
      const left = runs.count - drawn;
      const offer = (text, number) => element("button", { type: "button", onclick: () => drawMore(number) }, text);
      more.replaceChildren(
        ...(left ? [offer(left === 1 ? "Show the oldest run" : `Show ${Math.min(left, atOnce)} older runs`, atOnce)] : []),
        ...(left > atOnce ? [offer(`Show all ${runs.count.toLocaleString("en")} runs`, left)] : []));
    }
    const heads = [named ? "run, variant" : "run", "value [95 % CI]", "change", "version", "CV of means", "instances × iterations", "failures", "session"];
    const numbers = ["value [95 % CI]", "change", "CV of means", "instances × iterations", "failures"];
    place.replaceChildren(
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of runs" },
        element("table", {},
          element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", class: numbers.includes(head) ? "number" : undefined }, head)))),
          body)),
      more);
    await drawMore(atFirst);
  }

  // Long names of sessions and versions would take the room of the values; the whole is shown on hover.
  function shortened(text) {
    const whole = text ?? "";
    return whole.length > 18 ? element("span", { title: whole }, whole.slice(0, 10) + "…" + whole.slice(-6)) : whole;
  }

  function runRow(run, position, named) {
    const number = (...children) => element("td", { class: "number" }, ...children);
    const problems = [run.failures && `${run.failures} failed`, run.lost && `${run.lost} lost`].filter(Boolean).join(", ");
    const opens = (text) => element("button", { type: "button", class: "trace", onclick: () => trace(run, position) }, text);
    return element("tr", {},
      element("td", {}, opens(run.time), run.retired ? element("small", { class: "hint" }, " retired") : "", named
        ? element("span", { class: "of-variant" }, element("span", { class: "dot", style: `background:${colour(run.colour)}`, "data-colour": run.colour }), run.variant)
        : ""),
      number(opens(run.value), run.other_unit ? ` in ${run.other_unit}` : run.interval ? ` [${run.interval}]` : run.spread ? ` ${run.spread}` : ""),
      element("td", { class: "number", title: run.change_against }, run.change || (run.new_epoch ? element("small", {}, "new epoch") : "")),
      element("td", {}, shortened(run.version)),
      number(run.cv ?? ""),
      run.summary ? number(element("span", { class: "summary" }, "summary"), " ", element("small", { class: "hint" }, run.summary)) : number(run.size ?? ""),
      number(problems ? element("span", { class: "failed" }, problems) : ""),
      element("td", {}, element("small", { class: "hint" }, shortened(run.session))));
  }

  // A link to a number opens what it rests on; closing it leaves the page itself.
  async function traceFromHash() {
    const wanted = readHash().get("trace");
    const position = wanted && runs ? runs.position(wanted) : -1;
    if (position < 0) return;
    const list = runs;
    const run = await list.at(position);
    if (list === runs) trace(run, position);
  }

  document.getElementById("trace").addEventListener("close", () => {
    if (readHash().has("trace")) writeHash({ metric: readHash().get("metric") });
  });

  function trace(run, position) {
    const dialog = document.getElementById("trace");
    dialog.querySelector("h2").textContent = run.value === "skipped" ? "A run that was skipped" : run.without_value ? "A run without a value" : `${run.value}: what it rests on`;
    const table = (label, heads, rows) =>
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, element("table", {},
        element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((text) => element("td", { class: text.length > 60 ? "long" : undefined }, text)))))));
    const which = `The run of ${run.time}${run.variant === "default" ? "" : ", " + run.variant}${run.retired ? " (retired, excluded from analysis)" : ""}`;
    const parts = run.summary
      ? [element("p", {}, `${which}: a summary, ${run.summary}. The source kept no samples, so there is no interval.`)]
      : [element("p", {}, run.value === "skipped" ? `${which}: skipped.` : run.without_value ? `${which}: no iteration counts.` : `${which}: the geometric mean of the means of its instances` +
          (run.interval ? `, 95 % CI ${run.interval}, ${run.size}.` : run.instances.length === 1 ? `, ${run.size}; one instance gives no interval.` : `, ${run.size}.`)),
        element("p", {}, run.left_out ? `Iterations excluded: ${run.left_out}.` : "No iteration was excluded."),
        table("Instances", ["instance", "host", "mean", "iterations used", "excluded", "ended"],
          run.instances.map((it) => [it.id, it.host, it.mean, String(it.used), it.left_out || "nothing", it.outcome.replaceAll("_", " ") || "no end"]))];
    if (run.summaries) {
      if (!run.summary) parts.push(element("p", {}, "The source's own summary, which is not part of this number:"));
      parts.push(table("Summaries", ["instance", "host", "summary", "value", "spread", "further figures"],
        run.summaries.map((it) => [it.instance, it.host, it.what, it.value, it.spread, it.figures])));
    }
    const about = element("div", { class: "about-run" });
    parts.push(about, element("p", { class: "hint" }, `Run ${run.id}`));
    dialog.querySelector("div").replaceChildren(...parts);
    writeHash({ metric: readHash().get("metric"), trace: run.id });
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    runDetails(position)
      .then((shown) => about.replaceChildren(...shown))
      .catch((error) => about.replaceChildren(element("p", { class: "attention" }, error.message)));
  }

  // --- Every iteration, page by page.

  const raw = { at: 0, size: 100 };
  const rawTotal = settings.raw.reduce((sum, file) => sum + file.rows, 0);

  function rawRow(file, at) {
    const instance = file.instances[file.instance[at]];
    const run = file.runs[instance.run];
    const message = file.messages.find(([row]) => row === at)?.[1] ?? "";
    return [run.started, run.session_name, run.variant, run.version, instance.id, instance.host, file.index[at], file.offset[at],
      file.burn_in[at] ? "yes" : "no", file.outcome[at], message, ...file.metrics.map((metric) => metric.values[at])];
  }

  const rawHeads = (file) => ["session started", "session", "variant", "version", "instance", "host", "index", "offset (s)", "burn-in", "outcome", "message",
    ...file.metrics.map((metric) => metric.name + (metric.unit && metric.unit !== "1" ? ` (${metric.unit})` : ""))];

  function messageCell(text) {
    const [first, ...rest] = text.split("\n");
    if (!rest.length && first.length < 60) return first;
    return element("details", {}, element("summary", {}, first.slice(0, 60)), element("pre", { tabindex: 0 }, text));
  }

  async function showRaw() {
    const place = document.querySelector("#iterations .content");
    const body = element("tbody");
    let heads = [];
    let first = 0;
    for (const { file: name, rows } of settings.raw) {
      const [from, to] = [Math.max(raw.at, first), Math.min(raw.at + raw.size, first + rows)];
      if (from < to) {
        const file = await load(name);
        heads = rawHeads(file);
        for (let at = from; at < to; at += 1) {
          const cells = rawRow(file, at - first);
          cells[0] = cells[0].slice(0, 16).replace("T", " ");
          cells[4] = cells[4].slice(-8);
          body.append(element("tr", {}, ...cells.map((value, column) => {
            const isNumber = typeof value === "number";
            const text = value === null ? "–" : isNumber ? window.lapwingChart.plainNumber(value) : value;
            if (column === 10) return element("td", {}, messageCell(text));
            return element("td", { class: isNumber || column > 10 ? "number" : undefined, title: isNumber ? String(value) : undefined }, text);
          })));
        }
      }
      first += rows;
    }
    const last = Math.min(raw.at + raw.size, rawTotal);
    const go = (to) => () => { raw.at = Math.max(0, Math.min(to, Math.floor((rawTotal - 1) / raw.size) * raw.size)); showRaw(); };
    const step = (text, to, possible) => element("button", { type: "button", disabled: !possible, onclick: go(to) }, text);
    place.replaceChildren(
      element("p", { class: "buttons" },
        step("Newest", 0, raw.at > 0), step("Newer", raw.at - raw.size, raw.at > 0),
        element("span", {}, `${(raw.at + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${rawTotal.toLocaleString("en")}`),
        step("Older", raw.at + raw.size, last < rawTotal), step("Oldest", rawTotal, last < rawTotal)),
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of iterations" },
        element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((head, at) => element("th", { scope: "col", class: at > 10 ? "number" : undefined }, head)))), body)));
  }

  async function saveRaw() {
    const parts = [];
    for (const { file: name } of settings.raw) {
      const file = await load(name);
      if (!parts.length) parts.push(csvLine(rawHeads(file)));
      for (let at = 0; at < file.index.length; at += 1) parts.push(csvLine(rawRow(file, at)));
    }
    save(`${stem}.csv`, "text/csv", parts);
  }

  // Whether other parametrisations of the test were measured is known only once all pages are written.
  if (settings.test) {
    load("tests").then((tests) => {
      const sweeps = tests[settings.test];
      document.getElementById("all-parametrisations").hidden = !sweeps;
      if (sweeps) loadSweeps = load(sweeps);
      return showSweep();
    }).catch(() => {});
  }

  window.addEventListener("hashchange", showMetric);
  showMetric();
  showRest().catch(() => {});
})();
