// The pages about all benchmarks: what stands in the rows of each, and what belongs to them.
(function () {
  "use strict";

  const { settings, load, element, drawing, colour, listing, figure } = window.lapwing;

  // Worst first.
  const verdictOrder = ["regression", "improvement", "worse_in_runs", "better_in_runs", "unchanged_in_runs", "equivalent", "inconclusive", "not_measured"];

  const cell = (name, label, ...children) => element("td", { role: "cell", class: name, "data-label": label }, ...children);
  const number = (label, ...children) => cell("number", label, ...children);
  const nothing = (...children) => element("td", { role: "cell", class: "number nothing" }, ...children);
  const small = (text) => (text ? element("small", {}, text) : "");
  const attention = (text) => element("span", { class: "attention" }, text);
  const line = (row, ...cells) => element("tr", { role: "row" }, ...cells);

  function chip(verdict, title) {
    const [symbol, text] = settings.verdicts[verdict];
    return element("span", { class: `chip ${verdict}`, title }, element("span", { "aria-hidden": "true" }, symbol), ` ${text}`);
  }

  const severalSuites = document.querySelector('#filters [name="suite"]') !== null;

  // A benchmark's name, which leads to its page, above what else tells it from others.
  function nameCell(row, { fragment = "", about = [], mark = "", more = "" } = {}) {
    const text = [...about, severalSuites ? row.suite : "", ...row.tags.map((tag) => "#" + tag)].filter(Boolean).join(" · ");
    return cell("name", undefined,
      row.slug ? element("a", { href: `benchmark/${row.slug}.html${fragment}`, title: row.id }, row.id) : element("span", { title: row.id }, row.id),
      " ", element("small", {}, mark, text, more));
  }

  // The pages of benchmarks begin with their wall time, whatever leads here.
  const metricFragment = (metric) => (metric && (settings.lead || metric !== settings.metrics?.[0]) ? "#" + new URLSearchParams({ metric: metric.name }) : "");

  const bySuiteAndTag = {
    suite: (row, wanted) => row.suite === wanted,
    tag: (row, wanted) => row.tags.includes(wanted),
  };

  const byState = (states) => (row, wanted) => states[wanted]?.(row) ?? true;

  // Of what is said by metric, only the one that is looked at.
  function showMetric(_, metric) {
    for (const part of document.querySelectorAll(".by-metric")) part.hidden = part.dataset.metric !== metric.name;
  }

  // A button that shows a place with charts and puts them away; says whether they are shown.
  function toggle(action, place, { draw, clear }) {
    const button = document.querySelector(`[data-action="${action}"]`);
    const words = button?.textContent;
    const isOpen = () => button?.getAttribute("aria-expanded") === "true";
    button?.addEventListener("click", () => {
      const open = !isOpen();
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "Put the charts away" : words;
      place.hidden = !open;
      if (open) draw();
      else clear();
    });
    return isOpen;
  }

  // --- The index.

  // Variants that have a column each, and stacks, are joined in one row, which has the worst of what is said of them.
  function byBenchmark(rows) {
    if (!settings.variants && !settings.stacks) return rows.map((row) => ({ ...row, of: [row] }));
    const joined = new Map();
    for (const row of rows) {
      const key = `${row.suite}\n${row.id}`;
      if (!joined.has(key)) joined.set(key, { ...row, named: false, of: [] });
      joined.get(key).of.push(row);
    }
    for (const row of joined.values()) {
      if (settings.variants) row.of.sort((one, other) => settings.variants.indexOf(one.variant) - settings.variants.indexOf(other.variant));
      else row.of.sort((one, other) => (one.value ?? Infinity) - (other.value ?? Infinity));
      const worst = (value) => row.of.reduce((one, other) => (value(other) > value(one) ? other : one));
      const order = (it) => (it.verdict ? verdictOrder.length - verdictOrder.indexOf(it.verdict) : -1);
      const largest = (name) => Math.max(...row.of.map((it) => it[name] ?? -1));
      const { verdict, verdict_text } = worst(order);
      const { since, since_direction, since_size, since_title, since_link } = worst((it) => (it.since ? it.since_size ?? 0 : -Infinity));
      const { cv, cv_text } = worst((it) => it.cv ?? -1);
      Object.assign(row, { verdict, verdict_text, since, since_direction, since_size, since_title, since_link, cv, cv_text });
      row.noisy = row.of.some((it) => it.noisy);
      row.failures = row.of.reduce((sum, it) => sum + it.failures, 0);
      row.lost = row.of.reduce((sum, it) => sum + it.lost, 0);
      row.failed_before = largest("failed_before");
      row.skipped = row.of.every((it) => it.skipped);
    }
    return [...joined.values()];
  }

  const measured = (row) => row.of.filter((it) => it.value !== null);

  // The stacks of a benchmark as dots, from the lowest value to the highest.
  function strip(row) {
    const all = measured(row);
    if (all.length < 2) return "";
    const [low, high] = [all[0].value, all.at(-1).value];
    const dots = all.map(({ value }) => `M${(4 + (112 * (value - low)) / (high - low || 1)).toFixed(1)} 12h0`).join("");
    const title = `${all.length} stacks`;
    return drawing("svg", { viewBox: "0 0 120 24", class: "sparkline", role: "img", "aria-label": title },
      drawing("title", {}, title), drawing("path", { d: dots, class: "dots" }));
  }

  // The lowest and the highest value, each with its stack.
  function ends(row, metric) {
    const all = measured(row);
    const end = (it, label) => {
      const made = valueCell(it, metric, label);
      if (it) made.append(element("small", { class: "stack" }, it.variant.replaceAll(",", " ")));
      return made;
    };
    return [end(all[0], "lowest"), end(all.length > 1 ? all.at(-1) : undefined, "highest")];
  }

  const anyOf = (test) => (row) => row.of.some(test);

  function index() {
    const values = (settings.variants ?? []).map((variant, at) => [`value${at}`, (row) => row.of.find((it) => it.variant === variant)?.value ?? null]);
    listing({
      together: byBenchmark,
      text: (row) => `${row.suite} ${row.id} ${row.of.map((it) => it.variant).join(" ")}`,
      keys: {
        name: (row) => row.key,
        value: (row) => row.value,
        ...Object.fromEntries(values),
        low: (row) => measured(row)[0]?.value ?? null,
        high: (row) => measured(row).at(-1)?.value ?? null,
        change: (row) => row.change,
        since: (row) => row.since_size,
        verdict: (row) => (row.verdict ? verdictOrder.length - verdictOrder.indexOf(row.verdict) : null),
        noise: (row) => row.cv,
        size: (row) => row.instances,
        failures: (row) => 1000 * (row.failures + row.lost) + row.failed_before || null,
      },
      filters: {
        ...bySuiteAndTag,
        variant: (row, wanted) => row.of.some((it) => it.variant === wanted),
        state: byState({
          failures: anyOf((row) => row.failures > 0),
          before: (row) => row.failures === 0 && row.failed_before > 0,
          nothing: anyOf((row) => row.value === null && !row.skipped),
          skipped: anyOf((row) => row.skipped),
          epoch: anyOf((row) => row.new_epoch),
          regressed: anyOf((row) => row.since_direction === "regression"),
          shifted: anyOf((row) => row.since),
          lost: anyOf((row) => row.lost > 0),
          few: anyOf((row) => row.value !== null && !row.summary && row.instances < 3),
          summary: anyOf((row) => row.summary),
          noisy: anyOf((row) => row.noisy),
          unusual: anyOf((row) => row.unusual),
        }),
      },
      row: indexRow,
    });
  }

  function indexRow(row, metric) {
    const mark = row.named ? element("span", { class: "dot", style: `background:${colour(row.colour)}`, "data-colour": row.colour }) : "";
    const all = row.test ? element("span", {}, " · ", element("a", { class: "all", href: `test/${row.test}.html${metricFragment(metric)}` }, "all parameters")) : "";
    return line(row,
      nameCell(row, { fragment: metricFragment(metric), about: [row.named ? row.variant : ""], mark, more: all }),
      cell("history", undefined, ...(settings.stacks ? [strip(row)] : row.of.map(sparkline))),
      ...(settings.stacks ? ends(row, metric) : settings.variants ? settings.variants.map((variant) => valueCell(row.of.find((it) => it.variant === variant), metric, variant)) : [valueCell(row, metric)]),
      settings.changes ? changeCell(row) : "",
      settings.since ? cell("since", row.since ? "in the history" : undefined, row.since
        ? element("a", { class: row.since_direction, href: row.since_link, title: row.since_title }, row.since) : "") : "",
      settings.verdicts ? cell("verdict", undefined, row.verdict ? chip(row.verdict, row.verdict_text) : "") : "",
      settings.cv ? (row.cv === null ? number() : number("cv", row.cv_text)) : "",
      row.summary
        ? element("td", { role: "cell", class: "number", title: "a summary of the source, which kept no samples" },
          element("span", { class: "summary" }, "summary"), " ", small(row.summary))
        : row.skipped ? nothing() : number("instances × iterations", element("span", { class: "hint" }, row.size)),
      failures(row));
  }

  function valueCell(row, metric, label) {
    if (!row) return nothing("–");
    const trace = `benchmark/${row.slug}.html#` + new URLSearchParams({ metric: metric.name, trace: row.run_id });
    return element("td", { role: "cell", class: "number", "data-label": label, title: `${row.run}; ${row.left_out ? "excluded: " + row.left_out : "nothing excluded"}` },
      element("strong", {}, row.value === null ? row.value_text : element("a", { class: "trace", href: trace }, row.value_text)), " ",
      small(row.interval_text ? `[${row.interval_text}]` : row.spread_text), row.retired ? small(" retired") : "");
  }

  function changeCell(row) {
    const attributes = { role: "cell", class: "number", title: row.change_against, "data-label": "change" };
    if (row.change_text) return element("td", attributes, row.change_text, " ", small(row.change_interval));
    if (row.new_epoch && row.change_against) return element("td", attributes, small("new epoch"));
    return element("td", { role: "cell", class: "number nothing", title: row.change_against || (row.summary ? "nothing is concluded from summaries" : "nothing to compare with, or fewer than 3 instances") }, "–");
  }

  function failures(row) {
    const parts = [];
    if (row.failures) parts.push(`${row.failures} failed`);
    if (row.lost) parts.push(`${row.lost} lost`);
    if (row.skipped) return nothing("skipped");
    if (parts.length) return number(undefined, element("span", { class: "worse" }, parts.join(", ")));
    if (row.failed_before > 0) return number(undefined, element("span", { class: "hint" }, `in ${row.failed_before} earlier ${row.failed_before === 1 ? "run" : "runs"}`));
    return nothing("");
  }

  function sparkline(row) {
    if (!row.sparkline) return "";
    const path = drawing("path", { d: row.sparkline });
    // Instances of a single run are dots, lines of no length.
    if (!row.sparkline.includes("L")) path.setAttribute("class", "dots");
    if (row.of === undefined && settings.variants) {
      path.dataset.colour = row.colour;
      path.style.stroke = colour(row.colour);
    }
    return drawing("svg", { viewBox: "0 0 120 24", class: "sparkline", role: "img", "aria-label": row.sparkline_title },
      drawing("title", {}, row.sparkline_title), path);
  }

  // --- Exclusions.

  function cleaning() {
    const share = (row) => (row.recorded ? row.left / row.recorded : null);
    listing({
      text: (row) => `${row.suite} ${row.id}`,
      keys: {
        name: (row) => row.key,
        recorded: (row) => row.recorded,
        share,
        reason: (row) => row.reason || (row.never_steady ? "never" : null),
      },
      filters: {
        ...bySuiteAndTag,
        state: byState({
          out: (row) => row.reason,
          never: (row) => row.never_steady,
          some: (row) => row.rules.some((rule) => rule !== "burn_in"),
        }),
        rule: (row, wanted) => row.rules.includes(wanted),
      },
      shown: showMetric,
      row(row, metric) {
        const left = share(row) ?? 0;
        return line(row,
          nameCell(row, { fragment: metricFragment(metric) }),
          cell("wide", "steady", row.start),
          number("iterations", row.recorded.toLocaleString("en")),
          number("iterations used", element("span", { class: "bar", "aria-hidden": "true" }, element("span", { style: `width:${(100 * left).toFixed(1)}%` })), " ", row.left.toLocaleString("en")),
          cell("wide", "excluded", row.left_out || "nothing"),
          row.reason ? cell("", "analysed", attention("no: " + row.reason)) : cell("", "analysed", row.never_steady ? attention("yes, but hardly steady") : "yes"));
      },
    });
  }

  // --- When benchmarks get steady.

  function burnIn() {
    const place = document.getElementById("multiples");
    const atOnce = 12;
    let rows = [];
    let figures = [];
    let turn = 0;
    const isOpen = toggle("multiples", place, { draw: redraw, clear });

    listing({
      text: (row) => `${row.suite} ${row.id}`,
      keys: {
        name: (row) => row.key,
        class: (row) => row.class,
        start: (row) => row.start_index,
        never: (row) => row.never,
        cost: (row) => row.cost,
        bias: (row) => row.bias,
      },
      filters: {
        ...bySuiteAndTag,
        class: (row, wanted) => row.class === wanted,
        state: byState({
          never: (row) => row.instances > 0 && row.never === row.instances,
          mostly: (row) => row.never < row.instances && 2 * row.never > row.instances,
          partly: (row) => row.never > 0 && 2 * row.never <= row.instances,
          short: (row) => !row.chart,
          differs: (row) => /^\d/.test(row.found) && parseInt(row.found, 10) !== row.start_index,
        }),
      },
      shown(next) {
        rows = next.filter((row) => row.chart);
        if (isOpen()) redraw();
      },
      row(row) {
        const never = row.never ? `${row.never} of ${row.instances}` : "none";
        return line(row,
          nameCell(row, { about: [row.metric === "wall_time" ? "" : row.metric.replaceAll("_", " ")] }),
          cell("wide", "class", row.classes),
          number("steady from", row.start, " ", small(row.source)),
          number("planned", row.planned),
          number("detected", row.found),
          row.never ? number("never steady", attention(never)) : nothing(never),
          row.cost_text ? number("cost per instance", row.cost_text) : nothing("–"),
          row.bias_text ? number("remaining bias", row.bias_text) : nothing("–"));
      },
    });

    function clear() {
      turn += 1;
      for (const it of figures) it.dispose();
      figures = [];
      place.replaceChildren();
    }

    // Charts come from files of their own, a dozen at a time: thousands would take long.
    async function drawFrom(from) {
      const now = turn;
      const more = element("p", { class: "buttons" });
      for (const row of rows.slice(from, from + atOnce)) {
        const chart = await load(row.chart);
        if (now !== turn) return;
        const drawn = figure({ ...chart, height: 220 }, row.slug);
        figures.push(drawn);
        drawn.section.prepend(element("p", { class: "of" }, element("a", { href: `benchmark/${row.slug}.html` }, row.id)));
        place.append(drawn.section);
      }
      const left = rows.length - from - atOnce;
      if (left > 0) {
        more.append(element("button", { type: "button", onclick() { more.remove(); drawFrom(from + atOnce); } }, `Draw ${Math.min(left, atOnce)} more of ${left.toLocaleString("en")}`));
        place.append(more);
      }
    }

    function redraw() {
      clear();
      if (rows.length) drawFrom(0);
      else place.append(element("p", { class: "hint" }, "None of these rows has iterations enough to draw."));
    }
  }

  // A chart of the rows by the metric that is looked at, drawn on request. Returns what to call when others are shown.
  function overview() {
    const place = document.getElementById("overview");
    let looked = settings.metrics?.[0];
    let drawn = null;
    const isOpen = toggle("overview", place, { draw, clear });

    function clear() {
      drawn?.dispose();
      drawn = null;
      place.replaceChildren();
    }

    async function draw() {
      const metric = looked;
      const chart = await load(metric.chart);
      if (metric !== looked || !isOpen()) return;
      clear();
      drawn = figure(chart, `${settings.page}-${metric.name.replace(/[^\w.-]+/g, "_")}`);
      place.append(drawn.section);
    }

    return (rows, metric) => {
      showMetric(rows, metric);
      if (metric === looked) return;
      looked = metric;
      if (isOpen()) draw();
    };
  }

  // --- How much benchmarks vary.

  function variability() {
    listing({
      text: (row) => `${row.suite} ${row.id} ${row.setting}`,
      keys: {
        name: (row) => row.key,
        size: (row) => row.instances,
        value: (row) => row.value,
        total: (row) => row.cv_total,
        within: (row) => row.cv_within,
        between: (row) => row.cv_between,
      },
      filters: {
        ...bySuiteAndTag,
        state: byState({
          noisy: (row) => row.noisy,
          groups: (row) => row.groups,
          few: (row) => row.instances < 3,
        }),
      },
      shown: overview(),
      row: (row, metric) => line(row,
        nameCell(row, { fragment: metricFragment(metric), about: [row.setting] }),
        number("instances × iterations", row.instances < 3 ? attention(row.size) : row.size),
        number("value", row.value_text),
        number("CV of all", row.cv_total_text),
        row.cv_within_text ? number("CV within", row.cv_within_text, " ", small(row.cv_within_interval ? `[${row.cv_within_interval}]` : "")) : nothing("–"),
        row.cv_between_text
          ? number("CV between", row.noisy ? attention(row.cv_between_text) : element("strong", {}, row.cv_between_text), " ", small(row.cv_between_interval ? `[${row.cv_between_interval}]` : ""))
          : nothing("–"),
        cell("wide", row.groups ? "groups" : undefined, row.groups),
        cell("wide", "what helps", row.advice)),
    });
  }

  // --- Which slowdowns could be detected.

  function detection() {
    const corners = settings.corners.map((title, at) => ({ title: `MDS at ${title}`, key: `corner${at}`, at }));
    listing({
      text: (row) => `${row.suite} ${row.id} ${row.setting}`,
      keys: {
        name: (row) => row.key,
        size: (row) => row.instances,
        needed: (row) => row.iterations_needed,
        plan: (row) => row.plan_cost,
        between: (row) => row.between,
        within: (row) => row.within,
        ...Object.fromEntries(corners.map(({ key, at }) => [key, (row) => row.slowdowns[at]])),
      },
      filters: {
        ...bySuiteAndTag,
        state: (row, wanted) => (wanted === "few" ? row.instances < 3 : row.able === wanted),
      },
      shown: overview(),
      row: (row, metric) => line(row,
        nameCell(row, { fragment: metricFragment(metric), about: [row.setting] }),
        number("measured", row.instances < 3 ? attention(row.size) : row.size),
        ...corners.map(({ title, at }) => (row.slowdown_texts[at] ? number(title, row.slowdown_texts[at]) : nothing("–"))),
        number(`for ${settings.target}`, { yes: element("strong", {}, row.needed_text), no: attention("not detected"), unknown: attention("too few measurements") }[row.able]),
        row.plan_text ? number("cheapest", row.plan_text, " ", small(row.plan_cost_text)) : nothing("–"),
        row.between_text ? number("noise between", row.between_text) : nothing("–"),
        row.within_text ? number("noise within", row.within_text) : nothing("–")),
    });
  }

  // --- The noise from night to night of runs with one instance, and the steps that are seen in it.

  function nightly() {
    const hasSteps = settings.page === "detection";
    listing({
      text: (row) => `${row.suite} ${row.id} ${row.setting}`,
      keys: {
        name: (row) => row.key,
        nights: (row) => row.nights,
        noise: (row) => row.noise,
        ...Object.fromEntries(settings.night_steps.map((_, at) => [`step${at}`, (row) => row.steps[at] ?? null])),
      },
      filters: {
        ...bySuiteAndTag,
        state: byState({
          noisy: (row) => row.noisy,
          unknown: (row) => (hasSteps ? !row.steps.length : row.noise === null),
        }),
      },
      shown: showMetric,
      row(row, metric) {
        const noise = row.noise === null ? nothing("–") : number("noise", row.noisy && !hasSteps ? attention(row.noise_text) : row.noise_text);
        const steps = settings.night_steps.map((title, at) => (row.steps.length ? number(title, row.step_texts[at]) : nothing("–")));
        return line(row,
          nameCell(row, { fragment: metricFragment(metric), about: [row.setting] }),
          row.nights === null ? nothing("–") : number("nights", row.nights),
          ...(hasSteps ? [noise, ...steps] : [row.level_text ? number("level", row.level_text) : nothing("–"), noise]),
          note(row));
      },
    });
    function note(row) {
      const why = hasSteps || row.noise === null ? row.why : "";
      return cell("wide", why ? "note" : undefined, why);
    }
  }

  // --- What changed in the history.

  function changes() {
    listing({
      text: (row) => `${row.suite} ${row.id} ${row.setting} ${row.metric} ${row.since_text} ${row.suspects} ${row.change}`,
      keys: {
        cause: (row) => row.cause,
        name: (row) => row.key,
        size: (row) => row.size,
        since: (row) => row.since,
        verdict: (row) => verdictOrder.length - verdictOrder.indexOf(row.direction),
      },
      filters: {
        ...bySuiteAndTag,
        metric: (row, wanted) => row.metric === wanted,
        direction: (row, wanted) => row.direction === wanted,
        state: (row, wanted) => row.state === wanted,
        cause: (row, wanted) => String(row.cause) === wanted,
      },
      row: (row) => line(row,
        cell("", "cause", row.has_section ? element("a", { href: `#c${row.cause}` }, row.cause) : row.cause),
        nameCell(row, { fragment: "#" + new URLSearchParams({ metric: row.metric }), about: [row.metric.replaceAll("_", " "), row.setting] }),
        number("before", row.before_text),
        number("after", row.after_text),
        number("change", element("strong", {}, row.change_text)),
        number("runs", row.runs),
        cell("", "since", row.since_text, " ", small(row.date), element("br"), row.suspects_link ? element("a", { href: row.suspects_link, rel: "noopener noreferrer" }, small(row.suspects)) : small(row.suspects)),
        cell("verdict", undefined, element("span", { class: `chip ${row.direction}` }, element("span", { "aria-hidden": "true" }, { regression: "✗", improvement: "✓", change: "·" }[row.direction]), ` ${row.direction}`),
          row.verdict === row.direction ? "" : element("small", {}, row.verdict)),
        cell("", "state", row.state_text)),
    });
    // A link to a finding shows its cause, or its row in the table, which is below all causes.
    function showTarget() {
      const target = location.hash.slice(1);
      if (/^(q|cause)=/.test(target)) document.getElementById("filters").scrollIntoView();
      else document.getElementById(target)?.closest("section").scrollIntoView();
    }
    window.addEventListener("hashchange", showTarget);
    (async () => {
      for (const place of document.querySelectorAll("[data-chart-file]")) {
        try {
          const { chartFile: file } = place.dataset;
          const chart = await load(file);
          place.append(figure({ ...chart, height: 240 }, file).section);
        } catch (error) {
          place.append(element("p", { class: "attention" }, error.message));
        }
      }
      // The charts moved what is below them.
      showTarget();
    })();
  }

  // --- What differs between sides.

  function compare() {
    listing({
      text: (row) => `${row.suite} ${row.id} ${row.setting} ${row.candidate} ${row.metric}`,
      keys: {
        name: (row) => row.key,
        candidate: (row) => row.candidate,
        value: (row) => row.candidate_value,
        ratio: (row) => row.ratio,
        p: (row) => row.p_adjusted,
        size: (row) => row.fewest,
        verdict: (row) => verdictOrder.length - verdictOrder.indexOf(row.verdict),
      },
      filters: {
        ...bySuiteAndTag,
        metric: (row, wanted) => row.metric === wanted,
        verdict: (row, wanted) => row.verdict === wanted,
        candidate: (row, wanted) => row.candidate === wanted,
        caution: (row) => row.cautions.length > 0,
      },
      row: compareRow,
      fold: { field: "verdict", value: "equivalent", text: "“no change”" },
    });

    const table = document.querySelector("table.listing");
    if (!table) return;
    table.querySelector("th.forest").append(element("span", { class: "unseen" }, "interval of the ratio"), forestAxis());
    const button = element("button", {
      type: "button", "aria-pressed": "false",
      onclick() {
        const shown = table.classList.toggle("with-p");
        button.setAttribute("aria-pressed", String(shown));
      },
    }, "p-values, sample sizes");
    document.querySelector(".above-table").append(button);
  }

  function compareRow(row) {
    const metric = row.metric.replaceAll("_", " ");
    const about = [settings.several_metrics ? metric : "", row.setting];
    const onDemand = (label, ...children) => cell("number on-demand", label, ...children);
    const values = [[row.baseline_text, row.baseline_interval], [row.candidate_text, row.candidate_interval]];
    return line(row,
      nameCell(row, { fragment: row.slug ? "#" + new URLSearchParams({ metric: row.metric }) : "", about }),
      settings.several_candidates ? cell("", "candidate", row.candidate) : "",
      cell("forest", undefined, forest(row)),
      row.ratio === null ? nothing("–") : number(undefined, element("strong", {}, row.ratio_text), " ", small(row.interval_text)),
      element("td", { role: "cell", class: "number values", title: values.map(([text, interval]) => text + (interval ? ` [${interval}]` : "")).join(" → ") }, `${row.baseline_text} → ${row.candidate_text}`),
      onDemand("p (adjusted)", row.p_text || "–", " ", small(row.p_adjusted_text ? `(${row.p_adjusted_text})` : "")),
      onDemand("instances", row.fewest < 3 ? attention(row.instances) : row.instances),
      cell("verdict", undefined, chip(row.verdict), row.why ? element("small", {}, row.why) : "",
        row.cautions.length ? element("details", {}, element("summary", {}, element("small", { class: "attention" }, row.cautions.length === 1 ? "caution" : `${row.cautions.length} cautions`)),
          ...row.cautions.map((caution) => element("small", {}, `${caution}.`))) : ""));
  }

  // Places on the axis that all rows share, in percent of its width: so it is as wide as there is room for.
  const percent = (logarithm) => {
    const share = (logarithm - settings.low) / (settings.high - settings.low);
    return `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
  };

  // Steps of the same size to both sides of 1×, two of them at most; doublings where the axis is long.
  function ticks() {
    if (settings.high > Math.LN2) return [1 / 4, 1 / 2, 1, 2, 4].filter((it) => Math.abs(Math.log(it)) < settings.high);
    const step = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((it) => settings.high < 3 * Math.log1p(it));
    return [-2, -1, 0, 1, 2].map((it) => 1 + it * step).filter((it) => it > 0 && Math.abs(Math.log(it)) < settings.high);
  }

  function forestAxis() {
    return drawing("svg", { class: "forest-axis", "aria-hidden": "true" }, ...ticks().flatMap((ratio) => {
      const x = percent(Math.log(ratio));
      return [drawing("text", { x, y: 11 }, `${Number(ratio.toPrecision(4))}×`), drawing("line", { x1: x, x2: x, y1: 15, y2: 20 })];
    }));
  }

  // A dot and its interval. What lies outside the axis is an arrow.
  function forest(row) {
    if (row.ratio === null || row.ratio <= 0) return "";
    const middle = 11;
    const at = Math.log(row.ratio);
    const title = `${row.ratio_text} ${row.interval_text}`;
    const parts = [];
    if (settings.band) {
      const width = (200 * settings.band) / (settings.high - settings.low);
      parts.push(drawing("rect", { class: "band", x: percent(-settings.band), y: 0, height: 2 * middle, width: `${width.toFixed(2)}%` }));
    }
    parts.push(drawing("line", { class: "one", x1: percent(0), x2: percent(0), y1: 0, y2: 2 * middle }));
    if (row.lower !== null && row.upper !== null && row.upper > 0) {
      const [from, to] = [row.lower > 0 ? percent(Math.log(row.lower)) : "0%", percent(Math.log(row.upper))];
      parts.push(drawing("line", { class: "whisker", x1: from, x2: to, y1: middle, y2: middle }));
    }
    const beyond = at > settings.high ? -6 : at < settings.low ? 6 : 0;
    if (beyond) {
      const arrow = drawing("path", { class: "beyond", d: `M${beyond},${middle - 5}L0,${middle}L${beyond},${middle + 5}` });
      parts.push(drawing("svg", { x: percent(at), class: "forest-end" }, arrow));
    } else parts.push(drawing("circle", { class: "dot-of-ratio", cx: percent(at), cy: middle, r: 4.5 }));
    return drawing("svg", { class: `forest-plot ${row.verdict}`, role: "img", "aria-label": title }, drawing("title", {}, title), ...parts);
  }

  const pages = { index, changes, cleaning, "burn-in": burnIn, variability, detection, compare };
  (settings.night_steps ? nightly : pages[settings.page])();
})();
