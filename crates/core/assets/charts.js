// A chart of a page: title, text, plot, and the buttons above it.
(function () {
  "use strict";

  const { element, save, csvLine } = window.lapwing;

  // Draws a chart definition. `controls` gets the function that draws another one in its place and
  // returns what else stands above it. Returns the figure and how to get rid of it.
  function figure(chart, stem, controls) {
    let definition = chart;
    const text = element("p", {}, chart.subtitle);
    const plot = element("div", { class: "plot", role: "img", style: `height:${chart.height}px`, "aria-label": `${chart.title}. ${chart.subtitle}` });
    const header = element("header", {}, element("h3", {}, chart.title));
    const section = element("section", { class: "chart", "data-chart": chart.id, "aria-label": chart.title }, header, text, plot);
    // The text says why there is nothing to draw; empty axes would add nothing.
    if (chart.option.dataset.every((table) => !table.source[table.dimensions[0]].length)) {
      plot.remove();
      return { section, dispose() {} };
    }
    let handle;
    let disposed = false;
    // A plot needs the width that it gets in the page, so it is drawn once it is there.
    requestAnimationFrame(() => {
      if (!disposed) handle = window.lapwingChart.show(plot, definition);
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
    const replace = (next) => {
      definition = next;
      text.textContent = next.subtitle;
      handle.replace(next);
      if (view > 0 && next.views) handle.patch(next.views[view].patch);
    };
    header.append(...(controls ? controls(replace) : []), ...buttons,
      element("button", { type: "button", onclick: () => save(`${stem}-${chart.id}.svg`, "image/svg+xml", [handle.svg()]) }, "SVG"),
      element("button", { type: "button", onclick: () => save(`${stem}-${chart.id}.csv`, "text/csv", csvOf(definition)) }, "CSV"));
    return {
      section,
      dispose() {
        disposed = true;
        handle?.dispose();
      },
    };
  }

  function csvOf(definition) {
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

  Object.assign(window.lapwing, { figure });
})();
