// A chart of a page: title, text, plot, and the buttons above it.
(function () {
  "use strict";

  const { element, save, csvLine, unpacked } = window.lapwing;

  // The most characters of a caption that is shown as it is.
  const longest = 100;

  // Draws a chart definition. `controls` gets the function that draws another one in its place and
  // returns what else stands above it. Returns the figure and how to get rid of it.
  function figure(chart, stem, controls) {
    let definition = chart;
    const text = element("p", {}, chart.subtitle);
    // A short caption is read at once; a long one stands behind a question mark.
    const isLong = chart.subtitle.length > longest;
    const caption = isLong ? element("details", { class: "explained" }, element("summary", { "aria-label": `About this chart: ${chart.title}`, title: "About this chart" }, "?"), text) : text;
    const plot = element("div", { class: "plot", role: "img", tabindex: 0, style: `height:${chart.height}px`, "aria-label": `${chart.title}. ${chart.subtitle}` });
    const header = element("header", {}, element("h3", {}, chart.title));
    const section = element("section", { class: "chart", "data-chart": chart.id, "aria-label": chart.title }, header, ...(isLong ? [] : [text]), plot);
    // The text says why there is nothing to draw; empty axes would add nothing.
    if (chart.option.dataset.every((table) => !table.source[table.dimensions[0]].length)) {
      plot.replaceWith(text);
      return { section, dispose() {} };
    }
    if (isLong) header.append(caption);
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
    // A history by run may be one by time.
    const byTime = chart.times ? element("button", {
      type: "button", "aria-pressed": "false", title: "Distances on the axis are times",
      onclick() {
        const pressed = byTime.getAttribute("aria-pressed") !== "true";
        byTime.setAttribute("aria-pressed", String(pressed));
        handle.replace(pressed ? window.lapwingChart.onTimeAxis(definition) : definition);
      },
    }, "by time") : "";
    const replace = (next) => {
      definition = next;
      text.textContent = next.subtitle;
      handle.replace(next);
      if (view > 0 && next.views) handle.patch(next.views[view].patch);
    };
    // For fingers, which have neither wheel nor keys.
    const zooming = [["−", "Zoom out", () => handle.zoom(2)], ["+", "Zoom in", () => handle.zoom(0.5)], ["Reset zoom", "Show all of the axis", () => handle.showAll()]]
      .map(([text, label, onclick]) => element("button", { type: "button", class: "with-fingers", "aria-label": label, onclick }, text));
    const isZoomed = !["detection", "treemap", "parallel"].includes(chart.id);
    if (isZoomed) header.append(element("span", { class: "zoom" }, "Shift + wheel zooms, double click resets; keys + − ← → 0"));
    header.append(...(controls ? controls(replace) : []), byTime, ...buttons, ...(isZoomed ? zooming : []),
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

  // What is known of each run besides the columns: of a history it stands in the chart's tooltip.
  function knownOfRuns(definition) {
    if (definition.csv) return definition.csv;
    const fields = definition.option.tooltip?.formatter?.fields ?? [];
    const field = fields.find((it) => it.joined);
    return field && { unit: field.unit, heads: field.heads, columns: field.joined.map(unpacked) };
  }

  // One head for all tables of the chart. What a run is called stands in place of its number.
  function csvOf(definition) {
    const tables = definition.option.dataset;
    const series = definition.option.series ?? [];
    const known = knownOfRuns(definition);
    const hidden = known ? ["place", "run", "above", "colour", "pale"] : [];
    const names = [...new Set(tables.flatMap((table) => table.dimensions))].filter((name) => !hidden.includes(name));
    const parts = [csvLine(["group", ...(known ? [...known.heads, ...names, "unit"] : names)])];
    tables.forEach((table, number) => {
      const group = series.find((it) => (it.datasetIndex ?? 0) === number)?.name ?? "";
      const columns = names.map((name) => table.source[name]);
      const length = table.source[table.dimensions[0]].length;
      for (let at = 0; at < length; at += 1) {
        const cells = columns.map((column) => column?.[at]);
        if (cells.every((cell) => cell === null || cell === undefined)) continue;
        const run = table.source.run?.[at];
        parts.push(csvLine([group, ...(known ? [...known.columns.map((column) => column[run]), ...cells, known.unit] : cells)]));
      }
    });
    return parts;
  }

  Object.assign(window.lapwing, { figure });
})();
