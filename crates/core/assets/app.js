// The pages of a Lapwing report: the index's table, a benchmark's charts and tables.
// Everything comes from files beside the page, so that it works from file:// and offline.
(function () {
  "use strict";

  // --- Side files. A page cannot fetch from file://, so data are scripts that register themselves.

  const arrived = new Map();
  const awaited = new Map();

  window.lapwing = {
    register(name, value) {
      arrived.set(name, value);
      awaited.get(name)?.resolve(value);
      awaited.delete(name);
    },
  };

  const root = document.body.classList.contains("index") ? "" : "../";

  function load(name) {
    if (arrived.has(name)) return Promise.resolve(arrived.get(name));
    if (!awaited.has(name)) {
      const entry = {};
      entry.promise = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
      awaited.set(name, entry);
      const script = document.createElement("script");
      script.src = `${root}data/${name}.js`;
      script.onerror = () => {
        awaited.delete(name);
        entry.reject(new Error(`${script.src} is missing: copy the whole folder of the report`));
      };
      document.head.append(script);
    }
    return awaited.get(name).promise;
  }

  // --- Small helpers.

  const settings = JSON.parse(document.getElementById("settings").textContent);

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== undefined && child !== null && child !== ""));
    return made;
  }

  // What stands between backticks is code.
  function marked(text) {
    return text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));
  }

  function save(name, type, parts) {
    const link = element("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function csvCell(value) {
    if (value === null || value === undefined) return "";
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const csvLine = (cells) => cells.map(csvCell).join(",") + "\n";

  // The address's hash holds what the page shows, so that a link shows the same to others.
  function readHash() {
    return new URLSearchParams(location.hash.slice(1));
  }

  function writeHash(values) {
    const hash = new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();
    if (hash !== location.hash.slice(1)) {
      history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    }
  }

  // --- Dark or light: by preference, until somebody chooses.

  const palettes = {
    light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f6670"],
    dark: ["#56b4e9", "#e69f00", "#2fbf97", "#dd94bb", "#f0e442", "#ef7d32", "#a3abb5"],
  };

  let printing = false;

  function isDark() {
    // Paper is white.
    if (printing) return false;
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function colour(number) {
    const colours = palettes[isDark() ? "dark" : "light"];
    return colours[number % colours.length];
  }

  function paintDots() {
    for (const dot of document.querySelectorAll("[data-colour]")) {
      const value = colour(Number(dot.dataset.colour));
      if (dot.tagName === "path") dot.style.stroke = value;
      else dot.style.background = value;
    }
  }

  document.querySelector('[data-action="theme"]').addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("lapwing-theme", theme);
    } catch {
      // Some browsers remember nothing for file://; the choice then lasts for this page.
    }
    document.dispatchEvent(new Event("lapwing-theme"));
  });
  document.addEventListener("lapwing-theme", paintDots);
  for (const [event, begins] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(event, () => {
      printing = begins;
      paintDots();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintDots);

  if (document.body.classList.contains("index")) showIndex();
  else showBenchmark();

  // --- The index.

  function showIndex() {
    const table = document.getElementById("benchmarks");
    if (!table) return;
    const form = document.getElementById("filters");
    const body = table.tBodies[0];
    const more = document.getElementById("more");
    const chunk = 150;
    let rows = [];
    let shown = [];
    let drawn = 0;
    let sort = { by: "", descending: false };

    const keys = {
      name: (row) => row.key,
      value: (row) => row.value,
      change: (row) => row.change,
      noise: (row) => row.cv,
      size: (row) => row.instances,
      failures: (row) => row.failures + row.lost || null,
    };

    const states = {
      failures: (row) => row.failures > 0,
      nothing: (row) => row.value === null,
      lost: (row) => row.lost > 0,
      few: (row) => row.value !== null && !row.summary && row.instances < 3,
      summary: (row) => row.summary,
      noisy: (row) => row.cv > 0.1,
      changed: (row) => row.moved && row.since_before,
      moved: (row) => row.moved,
    };

    function fromColumns(columns) {
      const names = Object.keys(columns);
      const count = names.length ? columns[names[0]].length : 0;
      return Array.from({ length: count }, (_, at) => {
        const row = {};
        for (const name of names) row[name] = columns[name][at];
        row.key = `${row.suite} ${row.id} ${row.variant}`.toLowerCase();
        return row;
      });
    }

    function compare(a, b) {
      const key = keys[sort.by];
      const [x, y] = [key(a), key(b)];
      // What has no value stands last, whichever way the others are sorted.
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
      return sort.descending ? -order : order;
    }

    function choose() {
      const wanted = Object.fromEntries(new FormData(form));
      const words = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
      const test = states[wanted.state];
      shown = rows.filter((row) =>
        words.every((word) => row.key.includes(word)) &&
        (!wanted.suite || row.suite === wanted.suite) &&
        (!wanted.tag || row.tags.includes(wanted.tag)) &&
        (!wanted.variant || row.variant === wanted.variant) &&
        (!test || test(row)));
      if (sort.by) shown.sort(compare);
      for (const header of table.tHead.querySelectorAll("[data-sort]")) {
        const active = header.dataset.sort === sort.by;
        if (active) header.setAttribute("aria-sort", sort.descending ? "descending" : "ascending");
        else header.removeAttribute("aria-sort");
      }
      body.replaceChildren();
      drawn = 0;
      drawMore();
      document.getElementById("shown").textContent = shown.length === rows.length
        ? `${rows.length.toLocaleString("en")} rows`
        : `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows` +
          (shown.length ? "" : ": nothing fits; clear a filter");
    }

    function drawMore() {
      const part = document.createDocumentFragment();
      for (const row of shown.slice(drawn, drawn + chunk)) part.append(tableRow(row));
      body.append(part);
      drawn = Math.min(drawn + chunk, shown.length);
      more.hidden = drawn >= shown.length;
    }

    function tableRow(row) {
      const metric = form.elements.metric.value;
      const hash = metric === settings.metrics[0].name ? "" : "#" + new URLSearchParams({ metric });
      const cell = (name, label, ...children) => element("td", { role: "cell", class: name, "data-label": label }, ...children);
      const small = (text) => (text ? element("small", {}, text) : "");
      const about = [row.named ? row.variant : "", row.suite, ...row.tags.map((tag) => "#" + tag)].filter(Boolean).join(" · ");
      const trace = `benchmark/${row.slug}.html#` + new URLSearchParams({ metric, trace: row.run_id });
      const dot = row.named ? element("span", { class: "dot", style: `background:${colour(row.colour)}`, "data-colour": row.colour }) : "";
      return element("tr", { role: "row" },
        element("td", { role: "cell", class: "name" },
          element("a", { href: `benchmark/${row.slug}.html${hash}`, title: row.id }, row.id),
          element("small", {}, dot, about)),
        cell("history", undefined, sparkline(row)),
        element("td", { role: "cell", class: "number", title: `${row.run}; ${row.left_out ? "left out: " + row.left_out : "nothing left out"}` },
          element("strong", {}, row.value === null ? row.value_text : element("a", { class: "trace", href: trace }, row.value_text)), " ", small(row.interval_text ? `[${row.interval_text}]` : row.spread_text)),
        row.change_text
          ? element("td", { role: "cell", class: "number", title: row.change_against, "data-label": "change" },
            row.moved ? element("strong", {}, row.change_text) : row.change_text, " ", small(row.change_interval))
          : element("td", { role: "cell", class: "number nothing", title: row.summary ? "nothing is concluded from summaries" : "nothing to compare with, or fewer than 3 instances" }, "–"),
        row.cv === null ? cell("number") : cell("number", "noise", row.cv > 0.1 ? element("span", { class: "attention" }, row.cv_text) : row.cv_text),
        row.summary
          ? element("td", { role: "cell", class: "number", title: "a summary of the source, which kept no samples" },
            element("span", { class: "summary" }, "summary"), " ", small(row.summary))
          : cell("number", "instances × iterations", row.instances < 3 ? element("span", { class: "attention" }, row.size) : row.size),
        failures(row));
    }

    function failures(row) {
      const parts = [];
      if (row.failures) parts.push(`${row.failures} failed`);
      if (row.lost) parts.push(`${row.lost} lost`);
      if (!parts.length) return element("td", { role: "cell", class: "number nothing" }, "none");
      return element("td", { role: "cell", class: "number" }, element("span", { class: "attention" }, parts.join(", ")));
    }

    function sparkline(row) {
      if (!row.sparkline) return "";
      const space = "http://www.w3.org/2000/svg";
      const picture = document.createElementNS(space, "svg");
      picture.setAttribute("viewBox", "0 0 120 24");
      picture.setAttribute("class", "sparkline");
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", row.sparkline_title);
      const title = document.createElementNS(space, "title");
      title.textContent = row.sparkline_title;
      const path = document.createElementNS(space, "path");
      path.setAttribute("d", row.sparkline);
      // Instances of a single run are dots, lines of no length.
      if (!row.sparkline.includes("L")) path.setAttribute("class", "dots");
      path.dataset.colour = row.colour;
      path.style.stroke = colour(row.colour);
      picture.append(title, path);
      return picture;
    }

    function keep() {
      const wanted = Object.fromEntries(new FormData(form));
      if (wanted.metric === settings.metrics[0].name) delete wanted.metric;
      if (sort.by) wanted.sort = (sort.descending ? "-" : "") + sort.by;
      writeHash(wanted);
    }

    async function update() {
      const metric = settings.metrics.find(({ name }) => name === form.elements.metric.value) ?? settings.metrics[0];
      try {
        rows = fromColumns(await load(metric.file));
        choose();
      } catch (error) {
        document.getElementById("shown").textContent = error.message;
      }
    }

    function fromHash() {
      const wanted = readHash();
      for (const field of form.elements) {
        if (!field.name) continue;
        field.value = wanted.get(field.name) ?? "";
        // A select shows nothing at all for a value that it does not know.
        if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
      }
      const by = wanted.get("sort") ?? "";
      sort = { by: by.replace("-", "") in keys ? by.replace("-", "") : "", descending: by.startsWith("-") };
      update();
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { keep(); update(); });
    form.addEventListener("reset", () => { sort = { by: "", descending: false }; setTimeout(() => { keep(); update(); }); });
    table.tHead.addEventListener("click", (event) => {
      const by = event.target.closest("[data-sort]")?.dataset.sort;
      if (!by || !event.target.closest("button")) return;
      // Names begin with a, numbers with the largest: that is what one looks for.
      sort = { by, descending: sort.by === by ? !sort.descending : by !== "name" };
      keep();
      choose();
    });
    more.querySelector("button").addEventListener("click", drawMore);
    new IntersectionObserver((seen) => seen.some((it) => it.isIntersecting) && drawMore(), { rootMargin: "600px" }).observe(more);
    window.addEventListener("beforeprint", () => { while (drawn < shown.length) drawMore(); });
    window.addEventListener("hashchange", fromHash);
    // The first side file stands after this script; it is there once the page is.
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", fromHash);
    else fromHash();
  }

  // --- The page of a benchmark.

  function showBenchmark() {
    const stem = settings.slug;
    let handles = [];
    let current = null;
    let runs = [];
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
      try {
        const content = await load(metric.file);
        if (metric !== current) return;
        for (const handle of handles) handle.dispose();
        handles = [];
        place.replaceChildren();
        document.querySelector("#charts .notes").replaceChildren(...content.notes.map((note) => element("p", { class: "hint" }, ...marked(note))));
        document.querySelector("#charts .zoom").hidden = !content.charts.length;
        for (const chart of content.charts) place.append(chartFigure(chart, metric));
        runs = content.runs;
        showRuns(runs);
        traceFromHash();
      } catch (error) {
        place.replaceChildren(element("p", { class: "attention" }, error.message));
      }
    }

    function chartFigure(chart, metric) {
      let definition = chart;
      const text = element("p", {}, chart.subtitle);
      const plot = element("div", { class: "plot", role: "img", style: `height:${chart.height}px`, "aria-label": `${chart.title}. ${chart.subtitle}` });
      const header = element("header", {}, element("h3", {}, chart.title));
      const figure = element("section", { class: "chart", "data-chart": chart.id, "aria-label": chart.title }, header, text, plot);
      let handle;
      // The text says why there is nothing to draw; empty axes would add nothing.
      if (chart.option.dataset.every((table) => !table.source[table.dimensions[0]].length)) {
        plot.remove();
        return figure;
      }
      // A plot needs the width that it gets in the page, so it is drawn once it is there.
      requestAnimationFrame(() => {
        handle = window.lapwingChart.show(plot, definition);
        handles.push(handle);
      });
      let view = 0;
      const buttons = (chart.views ?? []).map((offered, number) =>
        element("button", {
          type: "button", "aria-pressed": number === 0 ? "true" : "false",
          onclick() {
            view = number;
            handle.patch(definition.views[number].patch);
            buttons.forEach((button, at) => button.setAttribute("aria-pressed", at === number ? "true" : "false"));
          },
        }, offered.label));
      if (chart.id === "iterations" && metric.older) header.append(olderRuns(metric, chart, (next) => {
        definition = next;
        text.textContent = next.subtitle;
        handle.replace(next);
        if (view > 0 && next.views) handle.patch(next.views[view].patch);
      }));
      const name = `${stem}-${metric.name.replace(/[^\w.-]+/g, "_")}-${chart.id}`;
      header.append(...buttons,
        element("button", { type: "button", onclick: () => save(`${name}.svg`, "image/svg+xml", [handle.svg()]) }, "SVG"),
        element("button", { type: "button", onclick: () => save(`${name}.csv`, "text/csv", chartCsv(definition)) }, "CSV"));
      return figure;
    }

    // Iterations of older runs stay in their file until somebody asks for them.
    function olderRuns(metric, latest, draw) {
      const choice = element("select", { "aria-label": "Runs to draw" }, element("option", { value: "" }, metric.latest));
      const offer = element("option", { value: "load" }, "older runs …");
      choice.append(offer);
      choice.addEventListener("change", async () => {
        if (choice.value === "") return draw(latest);
        const groups = await load(metric.older);
        if (choice.value === "load") {
          offer.remove();
          groups.forEach((group, number) => choice.append(element("option", { value: String(number) }, group.label)));
          choice.value = "0";
        }
        return draw(groups[Number(choice.value)].chart);
      });
      return choice;
    }

    function chartCsv(definition) {
      const parts = [];
      const series = definition.option.series ?? [];
      definition.option.dataset.forEach((table, number) => {
        const group = series.find((it) => (it.datasetIndex ?? 0) === number)?.name ?? "";
        parts.push(csvLine(["group", ...table.dimensions]));
        const columns = table.dimensions.map((name) => table.source[name]);
        for (let at = 0; at < columns[0].length; at += 1) {
          const cells = columns.map((column) => column[at]);
          if (cells.some((cell) => cell !== null)) parts.push(csvLine([group, ...cells]));
        }
      });
      return parts;
    }

    // --- Runs, and what their numbers rest on.

    function showRuns(runs) {
      const place = document.querySelector("#runs .content");
      const body = element("tbody");
      const named = runs.some((run) => run.variant !== "default");
      let drawn = 0;
      const button = element("button", { type: "button", onclick: drawMore }, "Show older runs");
      function drawMore() {
        for (const run of runs.slice(drawn, drawn + 12)) body.append(runRow(run, named));
        drawn = Math.min(drawn + 12, runs.length);
        button.hidden = drawn >= runs.length;
      }
      const heads = ["run", ...(named ? ["variant"] : []), "version", "value [95 % CI]", "change", "noise", "instances × iterations", "failures"];
      place.replaceChildren(
        element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" },
          element("table", {},
            element("thead", {}, element("tr", {}, ...heads.map((head, at) => element("th", { scope: "col", class: at >= (named ? 3 : 2) ? "number" : undefined }, head)))),
            body)),
        element("p", { class: "buttons" }, button));
      drawMore();
    }

    function runRow(run, named) {
      const number = (...children) => element("td", { class: "number" }, ...children);
      const problems = [run.failures && `${run.failures} failed`, run.lost && `${run.lost} lost`].filter(Boolean).join(", ");
      return element("tr", {},
        element("td", {}, `${run.time} `, element("small", { class: "hint" }, run.session)),
        named ? element("td", {}, element("span", { class: "dot", style: `background:${colour(run.colour)}`, "data-colour": run.colour }), run.variant) : "",
        element("td", {}, run.version ?? ""),
        number(element("button", { type: "button", class: "trace", onclick: () => trace(run) }, run.value),
          run.interval ? ` [${run.interval}]` : run.spread ? ` ${run.spread}` : ""),
        element("td", { class: "number", title: run.change_against }, run.change ?? ""),
        number(run.cv ?? ""),
        run.summary ? number(element("span", { class: "summary" }, "summary"), " ", element("small", { class: "hint" }, run.summary)) : number(run.size ?? ""),
        number(problems ? element("span", { class: "attention" }, problems) : ""));
    }

    // A link to a number opens what it rests on; closing it leaves the page itself.
    function traceFromHash() {
      const run = runs.find(({ id }) => id === readHash().get("trace"));
      if (run) trace(run);
    }

    document.getElementById("trace").addEventListener("close", () => {
      if (readHash().has("trace")) writeHash({ metric: readHash().get("metric") });
    });

    function trace(run) {
      const dialog = document.getElementById("trace");
      dialog.querySelector("h2").textContent = `${run.value}: what it rests on`;
      const table = (label, heads, rows) =>
        element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, element("table", {},
          element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
          element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((text) => element("td", { class: text.length > 60 ? "long" : undefined }, text)))))));
      const which = `The run of ${run.time}${run.variant === "default" ? "" : ", " + run.variant}`;
      const parts = run.summary
        ? [element("p", {}, `${which}: a summary, ${run.summary}. The source kept no samples, so there is no interval.`)]
        : [element("p", {}, `${which}: the mean of the means of its instances` +
            (run.interval ? `, 95 % CI ${run.interval}, ${run.size}.` : `, ${run.size}; one instance gives no interval.`)),
          element("p", {}, run.left_out ? `Iterations left out: ${run.left_out}.` : "No iteration was left out."),
          table("Instances", ["instance", "host", "mean", "iterations used", "left out", "ended"],
            run.instances.map((it) => [it.id, it.host, it.mean, String(it.used), it.left_out || "nothing", it.outcome || "–"]))];
      if (run.summaries) {
        if (!run.summary) parts.push(element("p", {}, "The source's own summary, which takes no part in this number:"));
        parts.push(table("Summaries", ["instance", "host", "summary", "value", "spread", "further figures"],
          run.summaries.map((it) => [it.instance, it.host, it.what, it.value, it.spread, it.figures])));
      }
      parts.push(element("p", { class: "hint" }, `Run ${run.id}`));
      dialog.querySelector("div").replaceChildren(...parts);
      if (!dialog.open) dialog.showModal();
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
        element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Iterations" },
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

    // A source that kept no samples has no iterations to show.
    document.querySelector('[data-action="show-raw"]')?.addEventListener("click", showRaw);
    document.querySelector('[data-action="save-raw"]')?.addEventListener("click", saveRaw);
    window.addEventListener("hashchange", showMetric);
    showMetric();
  }
})();
