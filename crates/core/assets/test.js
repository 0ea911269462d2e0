// The page of a test: all its parametrisations in one chart for each variant, by one metric at a time.
(function () {
  "use strict";

  const { settings, load, element, readHash, figure } = window.lapwing;

  let figures = [];
  let current = null;

  async function show() {
    const name = readHash().get("metric");
    const metric = settings.metrics.find((it) => it.name === name) ?? settings.metrics[0];
    if (!metric || metric === current) return;
    current = metric;
    for (const link of document.querySelectorAll("[data-metric]")) {
      if (link.dataset.metric === metric.name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const place = document.querySelector("#charts .charts");
    try {
      const charts = await load(metric.file);
      if (metric !== current) return;
      for (const it of figures) it.dispose();
      figures = charts.map(({ chart }, at) => figure(chart, `${settings.slug}-${metric.name.replace(/[^\w.-]+/g, "_")}-${at + 1}`));
      place.replaceChildren(...figures.map((it) => it.section));
      if (!charts.length) place.replaceChildren(element("p", { class: "hint" }, "Nothing to draw: no run has a value."));
    } catch (error) {
      current = null;
      place.replaceChildren(element("p", { class: "attention" }, error.message));
    }
  }

  window.addEventListener("hashchange", show);
  show();
})();
