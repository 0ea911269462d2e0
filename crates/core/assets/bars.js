// The page with bars: charts of what the filters let pass, a dozen at a time, kept in the address.
(function () {
  "use strict";

  const { settings, load, fromColumns, element, readHash, writeHash, figure } = window.lapwing;
  const form = document.getElementById("filters");
  const place = document.getElementById("bars");
  if (!form || !place) return;
  const buttons = [...document.querySelectorAll("[data-group]")];
  const atOnce = 12;
  let group = buttons[0].dataset.group;
  let figures = [];
  let turn = 0;

  const metricOf = () => settings.metrics.find(({ name }) => name === form.elements.metric?.value) ?? settings.metrics[0];

  function wanted() {
    const values = Object.fromEntries(new FormData(form));
    return { ...values, words: (values.q ?? "").toLowerCase().split(/\s+/).filter(Boolean) };
  }

  async function update() {
    turn += 1;
    const now = turn;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.group === group));
    const metric = metricOf();
    try {
      const columns = await load(metric.file);
      if (now !== turn) return;
      const { words, suite, tag, category } = wanted();
      const rows = fromColumns(columns)
        .filter((row) => row.group === group)
        .filter((row) => words.every((word) => `${row.suite} ${row.title}`.toLowerCase().includes(word)))
        .filter((row) => (!suite || row.suite === suite) && (!category || row.category === category))
        // A chart of a variant is of benchmarks with several tags.
        .filter((row) => !tag || group === "variant" || row.tags.includes(tag))
        .sort((a, b) => a.title.localeCompare(b.title, "en", { numeric: true }));
      document.getElementById("shown").textContent = rows.length === 1 ? "1 chart" : `${rows.length.toLocaleString("en")} charts` + (rows.length ? "" : ": nothing fits; clear a filter");
      for (const it of figures) it.dispose();
      figures = [];
      place.replaceChildren();
      await drawFrom(rows, 0, metric, now);
    } catch (error) {
      document.getElementById("shown").textContent = error.message;
    }
  }

  async function drawFrom(rows, from, metric, now) {
    for (const row of rows.slice(from, from + atOnce)) {
      const charts = await load(row.file);
      if (now !== turn) return;
      const drawn = figure(charts[row.at], `bars-${row.slug || row.title.replace(/[^\w.-]+/g, "_")}`);
      figures.push(drawn);
      if (row.slug) {
        const link = element("a", { href: `benchmark/${row.slug}.html#${new URLSearchParams({ metric: metric.name })}` }, row.title);
        drawn.section.querySelector("h3").replaceChildren(link);
      }
      place.append(drawn.section);
    }
    const left = rows.length - from - atOnce;
    if (left <= 0) return;
    const more = element("p", { class: "buttons" });
    more.append(element("button", { type: "button", onclick() { more.remove(); drawFrom(rows, from + atOnce, metric, now); } },
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
