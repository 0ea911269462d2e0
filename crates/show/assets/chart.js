// Completes Lapwing's chart definitions wherever they are drawn: in a page, and in the engine
// that makes SVG files. A definition is plain JSON; this file turns its {"$color": …} and
// {"$function": …} into what ECharts wants, and holds the two themes.
(function (global) {
  "use strict";

  // Okabe & Ito's colours, which people with colour-blindness can tell apart.
  const palettes = {
    "lapwing-light": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f6670"],
    "lapwing-dark": ["#56b4e9", "#e69f00", "#2fbf97", "#dd94bb", "#f0e442", "#ef7d32", "#a3abb5"],
  };
  const tones = {
    "lapwing-light": {
      text: "#1d2329", muted: "#59636e", line: "#aab2bb", split: "#e6e9ed", shade: "rgba(110,120,132,0.13)",
      background: "#ffffff", box: "rgba(255,255,255,0.55)", worse: "#b3261e", better: "#0b6b4b",
    },
    "lapwing-dark": {
      text: "#e4e7eb", muted: "#a0a8b2", line: "#59626d", split: "#2b3139", shade: "rgba(160,170,182,0.14)",
      background: "#15181c", box: "rgba(21,24,28,0.45)", worse: "#ff9a8f", better: "#5fd6ae",
    },
  };
  // From small to large, each with what can be read on it. The first five are what is small enough; a step is between
  // them and the others, so that it can be seen without counting.
  const [darkText, lightText] = ["#12161b", "#ffffff"];
  const shades = {
    "lapwing-light": ["#eff4fb", "#d9e7f9", "#c2d9f7", "#a6caf3", "#8abaee", "#0578b8", "#0066a0", "#005486", "#02436a", "#12334d"]
      .map((fill, at) => ({ fill, text: at < 5 ? darkText : lightText })),
    "lapwing-dark": ["#1e2b38", "#1e3950", "#1b4869", "#165780", "#166697", "#539cd6", "#71aee4", "#91c0ef", "#b5d5f8", "#d9eafd"]
      .map((fill, at) => ({ fill, text: at < 5 ? lightText : darkText })),
  };
  // From better to worse around one that is neither: the outer ones are told apart by any eyes.
  const changes = {
    "lapwing-light": ["#0a4f8f", "#2a74b8", "#64a0d6", "#a3c8ea", "#dfebf6", "#f1f2f4", "#fbe9da", "#f6c79c", "#ec9a55", "#d4701f", "#a84a05"]
      .map((fill, at) => ({ fill, text: at < 2 || at > 8 ? lightText : darkText })),
    "lapwing-dark": ["#8cc4f5", "#61a5e2", "#3f84c2", "#2b6296", "#20384d", "#262b31", "#473524", "#8a5722", "#b87325", "#de8f35", "#f8b265"]
      .map((fill, at) => ({ fill, text: at < 2 || at > 8 ? darkText : lightText })),
  };
  const cellPalettes = { shades, changes };
  const staticFont = "Liberation Sans, Arial, Helvetica, sans-serif";
  const pageFont = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

  function theme(name, fontFamily) {
    const tone = tones[name];
    const axis = {
      axisLine: { show: true, lineStyle: { color: tone.line } },
      axisTick: { show: true, length: 4, lineStyle: { color: tone.line } },
      axisLabel: { color: tone.muted, fontSize: 12 },
      nameTextStyle: { color: tone.muted, fontSize: 12 },
      splitLine: { lineStyle: { color: tone.split } },
      splitArea: { show: false },
    };
    return {
      color: palettes[name],
      backgroundColor: "transparent",
      textStyle: { fontFamily, color: tone.text },
      title: { textStyle: { color: tone.text }, subtextStyle: { color: tone.muted } },
      legend: { textStyle: { color: tone.text, fontSize: 12 }, itemHeight: 10, itemWidth: 18, pageTextStyle: { color: tone.muted }, pageIconColor: tone.muted },
      categoryAxis: { ...axis, splitLine: { show: false } },
      valueAxis: axis,
      logAxis: axis,
      tooltip: {
        backgroundColor: tone.background, borderColor: tone.line, borderWidth: 1, padding: [6, 10],
        textStyle: { color: tone.text, fontSize: 13 }, extraCssText: "box-shadow:0 2px 8px rgba(0,0,0,.18)",
      },
    };
  }

  // Paper is white and narrower than most screens.
  const paperWidth = 680;

  // --- The functions that a definition may name. Each gets the definition's arguments and the theme.

  function cell(params, name) {
    const at = params.dimensionNames.indexOf(name);
    return at < 0 ? undefined : params.value[at];
  }

  function dimensionOf(params, name) {
    return params.dimensionsInfo ? params.dimensionsInfo.indexOf(name) : -1;
  }

  // ECharts fills its own hollow circle with white, which glares in the dark. Nothing fills this.
  const ring = "path://M0,5a5,5 0 1,1 10,0a5,5 0 1,1 -10,0zM2,5a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z";

  const functions = {
    // 1234567.5 → 1,234,567.5 and no binary noise such as 0.30000000000000004.
    plainNumber: () => (value) => plainNumber(value),

    // A number in base units with the unit that fits it, for an axis of many magnitudes.
    quantity: ({ unit, factor }) => (value) => quantity(value * factor, unit),

    // A label of an axis of logarithms of ratios: 0.0953 → 1.1×.
    ratioOfLog: () => (value) => plainNumber(Number(Math.exp(value).toPrecision(4))) + "×",

    // A label of an axis of logarithms: 4.605 → 100.
    valueOfLog: () => (value) => plainNumber(Number(Math.exp(value).toPrecision(6))),

    // Labels of an axis whose whole numbers stand for names; a narrow page may have others.
    category: ({ names, narrow }) => {
      const of = (all) => (value) => (Number.isInteger(value) ? (all[value] ?? "") : "");
      return Object.assign(of(names), { narrow: narrow && of(narrow) });
    },

    ring: () => ring,

    symbolOfState: ({ symbols }) => (value) => {
      const symbol = symbols[Array.isArray(value) ? value[3] : 0];
      return symbol === "ring" ? ring : symbol;
    },

    colourOfRow: (_, look) => (params) => {
      const row = params.value ?? params.data;
      const colours = palettes[look];
      return colours[row[row.length - 1] % colours.length];
    },

    // An interval as a line with caps; nothing where there is none.
    interval: ({ along, cap, shift = 0 }, look, palette) => (params, api) => {
      const lower = api.value("lower");
      const upper = api.value("upper");
      if (!Number.isFinite(lower) || !Number.isFinite(upper)) return undefined;
      const place = api.value("place");
      const [from, to] = along === "x"
        ? [api.coord([lower, place]), api.coord([upper, place])]
        : [api.coord([place, lower]), api.coord([place, upper])].map(([x, y]) => [x + shift, y]);
      const colour = api.visual("color");
      const style = { stroke: colour, lineWidth: 1.5, fill: "none", opacity: api.visual("opacity") ?? 1 };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      const caps = cap > 0
        ? [from, to].map(([x, y]) => (along === "x" ? line(x, y - cap, x, y + cap) : line(x - cap, y, x + cap, y)))
        : [];
      return { type: "group", children: [line(from[0], from[1], to[0], to[1]), ...caps] };
    },

    // A run with failures: a cross at the foot of the plot, whatever the values are.
    cross: () => (params, api) => {
      const [x] = api.coord([api.value("place"), 0]);
      const y = params.coordSys.y + params.coordSys.height - 7 - 10 * api.value("above");
      const style = { stroke: api.visual("color"), lineWidth: 2, fill: "none" };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return {
        type: "group",
        children: [
          // Wide enough to be pointed at.
          { type: "rect", shape: { x: x - 7, y: y - 7, width: 14, height: 14 }, style: { fill: "transparent" } },
          line(x - 4, y - 4, x + 4, y + 4), line(x - 4, y + 4, x + 4, y - 4),
        ],
      };
    },

    // A change of the level: where it may have begun, and the levels before and after, joined where it was slow.
    levelChange: ({ looks }, look) => (params, api) => {
      const { label, line: row, tone, colour, isGradual = Math.abs(api.value("next") - api.value("last")) > 1 } = looks[api.value("change")];
      const { y: top, height } = params.coordSys;
      const half = Math.max(api.size([1, 0])[0] / 2, 1.5);
      const x = (name) => api.coord([api.value(name), 0])[0];
      const y = (name) => api.coord([0, api.value(name)])[1];
      const [from, last, next, to] = ["from", "last", "next", "to"].map(x);
      const [first, end] = [x("first") - half, x("end") + half];
      const stroke = tones[look][tone];
      const level = { stroke: palettes[look][colour % palettes[look].length], lineWidth: 3, fill: "none", opacity: 0.55 };
      const line = (x1, y1, x2, y2, style) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      const levels = Number.isFinite(api.value("level"))
        ? [line(from, y("level"), last, y("level"), level), line(next, y("new_level"), to, y("new_level"), level),
          ...(isGradual ? [line(last, y("level"), next, y("new_level"), level)] : [])]
        : [];
      // The text is beside the line, where there is room for it.
      const isLeft = next - params.coordSys.x > params.coordSys.width - 60;
      return {
        type: "group",
        children: [
          { type: "rect", shape: { x: first, y: top, width: end - first, height }, style: { fill: stroke, opacity: 0.13 } },
          line(next, top, next, top + height, { stroke, lineWidth: 1.25, lineDash: [4, 3], opacity: 0.9 }),
          ...levels,
          { type: "text", style: { text: label, x: next + (isLeft ? -4 : 4), y: top + 3 + 15 * row, fill: stroke, textAlign: isLeft ? "right" : "left", textVerticalAlign: "top", font: api.font({ fontSize: 12, fontWeight: "bold" }), stroke: tones[look].background, lineWidth: 3 } },
        ],
      };
    },

    // A bar from nothing to the median, the spread around the mean as a line, and the mean as a tick.
    // It may lie on either side of nothing. On a narrow page it lies below its name.
    barOfRow: ({ below }, look) => (params, api) => {
      const place = api.value("place");
      const x = (value) => api.coord([value, place])[0];
      const [nothing, middle] = api.coord([0, place]);
      const room = api.size([0, 1])[1];
      const half = below ? 4.5 : Math.min(9, 0.36 * room);
      const y = below ? middle + 7 : middle;
      const [end, mean, low, high] = ["median", "mean", "low", "high"].map((name) => x(api.value(name)));
      const line = (x1, y1, x2, y2, lineWidth, stroke) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: stroke ?? tones[look].text, lineWidth, fill: "none" } });
      return {
        type: "group",
        children: [
          { type: "rect", shape: { x: Math.min(nothing, end), y: y - half, width: Math.abs(end - nothing), height: 2 * half }, style: { fill: api.visual("color"), opacity: api.value("pale") ? 0.3 : 0.75 } },
          line(nothing, middle - room / 2, nothing, middle + room / 2, 1, tones[look].line),
          ...(Number.isFinite(low) ? [line(low, y, high, y, 1.5), line(low, y - 4, low, y + 4, 1.5), line(high, y - 4, high, y + 4, 1.5)] : []),
          line(mean, y - half, mean, y + half, 2.5),
        ],
      };
    },

    // A bar from one value to another, with a text beside it.
    floatingBar: ({ names = [] }, look) => (params, api) => {
      const place = api.value("place");
      const [x1, y] = api.coord([api.value("lower"), place]);
      const [x2] = api.coord([api.value("upper"), place]);
      const half = Math.min(11, 0.38 * Math.abs(api.size([0, 1])[1]));
      const text = names[place] ?? "";
      const { x: left, width } = params.coordSys;
      const room = 6.5 * text.length;
      // Right of the bar, else left of it, else in it.
      const isRight = Math.max(x1, x2) + room < left + width;
      const isInside = !isRight && Math.min(x1, x2) - room < left;
      return {
        type: "group",
        children: [
          { type: "rect", shape: { x: Math.min(x1, x2), y: y - half, width: Math.max(Math.abs(x2 - x1), 1), height: 2 * half }, style: { fill: api.visual("color"), opacity: 0.8 } },
          { type: "text", style: { text, x: isRight ? Math.max(x1, x2) + 5 : (isInside ? Math.max(x1, x2) : Math.min(x1, x2)) - 5, y, fill: isInside ? tones[look].background : tones[look].text, textAlign: isRight ? "left" : "right", textVerticalAlign: "middle", font: api.font({ fontSize: 11 }) } },
        ],
      };
    },

    // A series that only gives an axis its ends.
    nothing: () => () => undefined,

    // A cell of a heat map in its shade, with what is written in it; framed where it is able.
    heatCell: ({ names, palette = "shades" }, look) => (params, api) => {
      const [x, y] = api.coord([api.value("x"), api.value("y")]);
      const [width, height] = api.size([1, 1]);
      const shade = api.value("shade");
      const { fill, text } = Number.isFinite(shade) ? cellPalettes[palette][look][shade] : { fill: tones[look].shade, text: tones[look].muted };
      const box = (inset, style) => ({
        type: "rect", style,
        shape: { x: x - width / 2 + inset, y: y - height / 2 + inset, width: Math.max(width - 2 * inset, 0), height: Math.max(height - 2 * inset, 0) },
      });
      // On a phone the unit goes: every number is in percent.
      const whole = names[api.value("cell")];
      const sizeOf = (label) => Math.min(12, (width - 6) / (0.55 * label.length));
      const label = sizeOf(whole) < 10 ? whole.replace(" %", "") : whole;
      const fontSize = sizeOf(label);
      return {
        type: "group",
        children: [
          box(1, { fill }),
          ...(api.value("able") === 1 ? [box(3.25, { fill: "none", stroke: text, lineWidth: 1.5 })] : []),
          // Smaller could not be read; hovering tells it.
          ...(fontSize >= 8 ? [{ type: "text", style: { text: label, x, y, fill: text, textAlign: "center", textVerticalAlign: "middle", font: api.font({ fontSize }) } }] : []),
        ],
      };
    },

    // A square of a density, the stronger the more is in it; where two groups share it, one half.
    densityCell: ({ size }) => (params, api) => {
      const [x, y] = api.coord([api.value("x"), api.value("y")]);
      const [width, height] = api.size([size, size]);
      const [from, to] = [api.value("from"), api.value("to")];
      return {
        type: "rect",
        shape: { x: x + from * width, y: y - height, width: (to - from) * width, height },
        style: { fill: api.visual("color"), opacity: api.value("opacity") },
      };
    },

    box: (_, look) => (params, api) => {
      const place = api.value("place");
      const x = (name) => api.coord([api.value(name), place])[0];
      const y = api.coord([api.value("q1"), place])[1];
      const [low, q1, median, q3, high] = ["low", "q1", "median", "q3", "high"].map(x);
      const half = 11;
      const tone = tones[look];
      const style = { stroke: tone.text, lineWidth: 1.2, fill: "none" };
      const line = (x1, y1, x2, y2, width) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { ...style, lineWidth: width ?? 1.2 } });
      return {
        type: "group",
        children: [
          { type: "rect", shape: { x: q1, y: y - half, width: Math.max(q3 - q1, 1), height: 2 * half }, style: { stroke: tone.text, lineWidth: 1.2, fill: tone.box } },
          line(low, y, q1, y), line(q3, y, high, y),
          line(low, y - 4, low, y + 4), line(high, y - 4, high, y + 4),
          line(median, y - half, median, y + half, 2.4),
        ],
      };
    },

    // What is shown on hover of curves: the share of each of them at that place.
    ratesAt: () => (found) => {
      const all = [found].flat();
      const box = document.createElement("dl");
      box.className = "chart-tooltip";
      const add = (label, text) => {
        const [term, definition] = ["dt", "dd"].map((name) => document.createElement(name));
        term.textContent = label;
        definition.textContent = text;
        box.append(term, definition);
      };
      if (all.length) add("slowdown", plainNumber(Number(cell(all[0], "slowdown").toPrecision(3))) + " %");
      for (const params of all) {
        const [rate, lower, upper] = ["rate", "lower", "upper"].map((name) => cell(params, name));
        if (!Number.isFinite(rate)) continue;
        const interval = Number.isFinite(lower) ? ` [${Math.round(lower)}–${Math.round(upper)}]` : "";
        add(params.seriesName, `${Number(rate.toPrecision(3))} %${interval}`);
      }
      return box;
    },

    // What is shown on hover: a list of fields of the row. Built of nodes, so that names need no escaping.
    tooltip: ({ fields }) => {
      const all = fields.map((field) => ({ ...field, names: field.joined ? runNames(field) : listOf(field.names), sizes: unpacked(field.sizes) }));
      return (params) => tooltipOf(all, params);
    },
  };

  function tooltipOf(fields, params) {
    const box = document.createElement("dl");
    box.className = "chart-tooltip";
    for (const field of fields) {
      const value = cell(params, field.column);
      if (value === null || value === undefined || Number.isNaN(value)) continue;
      const text = field.sizes ? estimateOf(field, params, value) : field.names ? field.names[value] : plainNumber(value) + (field.unit ? " " + field.unit : "");
      if (text === undefined || text === "") continue;
      const term = document.createElement("dt");
      term.textContent = field.label;
      const definition = document.createElement("dd");
      definition.textContent = text;
      box.append(term, definition);
    }
    return box;
  }

  // Texts that say how much they share with the one before (`show/packed.rs`).
  function unpacked(list) {
    if (!list?.packed) return list;
    let before = [];
    return list.packed.map((entry) => {
      if (entry === "") return before.join("");
      const [begin, end, ...middle] = entry;
      const shared = parseInt(end, 36);
      before = [...before.slice(0, parseInt(begin, 36)), ...middle, ...(shared ? before.slice(-shared) : [])];
      return before.join("");
    });
  }

  const listOf = (names) => {
    if (names && "all" in names) return new Array(names.count).fill(names.all);
    if (names && "of" in names) return names.at.map((at) => unpacked(names.of)[at]);
    return unpacked(names);
  };

  // `1.31 s (95 % CI 1.29–1.34 s, 5 instances × 5)`
  function estimateOf({ unit, sizes }, params, value) {
    const [lower, upper, run] = ["lower", "upper", "run"].map((name) => cell(params, name));
    const number = (it) => plainNumber(Number(it.toPrecision(Math.abs(it) < Math.abs(value) / 10 ? 2 : 3)));
    const after = unit ? " " + unit : "";
    const interval = Number.isFinite(lower) ? `95 % CI ${number(lower)}–${number(upper)}${after}, ` : "";
    return `${number(value)}${after} (${interval}${sizes[run]})`;
  }

  // What each run is called: `2026-11-20 10:00 brisk-heron, fast, 2026.9`.
  function runNames({ heads, joined }) {
    const [started, session, variant, version, retired] = ["started", "session", "variant", "version", "retired"].map((head) => unpacked(joined[heads.indexOf(head)]));
    return started.map((time, at) =>
      [`${time.slice(0, 16).replace("T", " ")} ${session[at]}`, variant[at] === "default" ? "" : variant[at], version[at], retired?.[at]].filter(Boolean).join(", "));
  }

  const ladders = {
    s: [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"], [60, "min"], [3600, "h"]],
    B: [[1, "B"], [1024, "KiB"], [1024 ** 2, "MiB"], [1024 ** 3, "GiB"], [1024 ** 4, "TiB"]],
  };

  // The unit in which numbers up to this one read well, and how many base units it is worth.
  function scaleOf(largest, unit) {
    const [base, below] = unit.split("/");
    const ladder = ladders[base];
    if (!ladder) return [1, unit === "1" ? "" : unit];
    const [factor, name] = ladder.findLast(([step, title]) => largest >= (title === "min" ? 120 : title === "h" ? 7200 : step * 0.9995)) ?? (largest > 0 ? ladder[0] : [1, base]);
    return [factor, below === undefined ? name : `${name}/${below}`];
  }

  function quantity(value, unit) {
    const ladder = ladders[unit];
    if (!ladder) return plainNumber(value) + (unit && unit !== "1" ? " " + unit : "");
    const [factor, name] = ladder.findLast(([step]) => Math.abs(value) >= step * 0.999999) ?? ladder[0];
    return plainNumber(Number((value / factor).toPrecision(3))) + " " + name;
  }

  function plainNumber(value) {
    if (!Number.isFinite(value)) return "–";
    const rounded = Number(value.toPrecision(6));
    const magnitude = Math.abs(rounded);
    if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e15)) return rounded.toExponential();
    const [whole, fraction] = rounded.toString().replace("-", "−").split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return fraction === undefined ? grouped : grouped + "." + fraction;
  }

  // Returns the definition with its colours and functions in place; data stay as they are.
  function resolve(value, look) {
    if (Array.isArray(value)) return value.map((item) => resolve(item, look));
    if (value === null || typeof value !== "object") return value;
    if ("$color" in value) {
      const colours = palettes[look];
      if (value.$color.change !== undefined) return changes[look][value.$color.change].fill;
      return typeof value.$color === "number" ? colours[value.$color % colours.length] : tones[look][value.$color];
    }
    if ("$function" in value) return functions[value.$function](value, look);
    if ("packed" in value) return unpacked(value);
    const resolved = {};
    for (const [key, item] of Object.entries(value)) {
      if (key === "axisLabel" && item && item.$function) {
        const { $function, ...rest } = item;
        resolved[key] = { ...resolve(rest, look), formatter: functions[$function](item, look) };
      } else {
        resolved[key] = key === "dataset" || key === "names" ? item : resolve(item, look);
      }
    }
    return resolved;
  }

  // --- The engine that makes SVG files.

  function prepareEngine() {
    // Without a screen nothing happens later: a picture is complete when it is drawn.
    global.setTimeout = () => 0;
    global.clearTimeout = () => undefined;
    for (const name of Object.keys(palettes)) {
      global.echarts.registerTheme(name, theme(name, staticFont));
    }
    global.echarts.setPlatformAPI({
      measureText(text, font) {
        const size = /([\d.]+)px/.exec(font || "");
        return { width: global.lapwingTextWidth(String(text), size ? Number(size[1]) : 12) };
      },
    });
  }

  function picture(option, look, width, height, patches = []) {
    const chart = global.echarts.init(null, look, { renderer: "svg", ssr: true, width, height });
    try {
      const resolved = resolve(option, look);
      keepLastLabel(resolved, width);
      chart.setOption({ ...resolved, animation: false, backgroundColor: tones[look].background });
      for (const patch of patches) chart.setOption(resolve(patch, look));
      return chart.renderToSVGString();
    } finally {
      chart.dispose();
    }
  }

  // Below many places the last label would stick out to the right. There is room for it on a wide page; on a narrow one
  // it ends at its place, and those that it would cover give way.
  function keepLastLabel(option, width) {
    const { grid } = option;
    let { xAxis } = option;
    if (xAxis?.type !== "category" || !xAxis.axisLabel?.hideOverlap || !xAxis.data?.length) return;
    sayOnce(option, width);
    xAxis = option.xAxis;
    const room = Math.ceil(3.4 * xAxis.data.at(-1).length - (width - 80) / xAxis.data.length / 2);
    if (room <= grid.right) return;
    if (width > paperWidth) option.grid = { ...grid, right: room };
    else xAxis.axisLabel = { ...xAxis.axisLabel, alignMaxLabel: "right", showMaxLabel: true };
  }

  // ECharts numbers its ids through the life of the engine. The same chart has to be the same
  // bytes whatever was drawn before it.
  function renumber(svg) {
    const ids = new Map();
    return svg.replace(/(?<=class="|id="|url\(#|href="#|\.)zr\d+-[a-z]+-?\d+/g, (id) => {
      if (!ids.has(id)) ids.set(id, "i" + ids.size);
      return ids.get(id);
    });
  }

  function draw({ option, theme: look, width, height }) {
    // Nothing here needs chance; should ECharts ask for some, it gets the same every time.
    let state = 1;
    Math.random = () => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647;
    };
    return renumber(picture(option, look, width, height));
  }

  // --- Pages.

  let printing = false;

  function wantsDark() {
    if (printing) return false;
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : global.matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function pageLook() {
    return wantsDark() ? "lapwing-dark" : "lapwing-light";
  }

  // Where clicks lead, by the number in the column `run`.
  function linksOf({ links, option }) {
    const field = option.tooltip?.formatter?.fields?.find((it) => it.link);
    return links ? unpacked(links) : field && unpacked(field.joined[field.heads.indexOf("run")]).map((id) => field.link + id);
  }

  // Draws a chart into an element and keeps it fitting when the window or the theme changes.
  // Returns what can be done with it.
  function show(element, definition) {
    for (const name of Object.keys(palettes)) global.echarts.registerTheme(name, theme(name, pageFont));
    let patches = [];
    let chart;
    const render = () => {
      if (chart) chart.dispose();
      const look = pageLook();
      chart = global.echarts.init(element, look, { renderer: "canvas" });
      const option = resolve(definition.option, look);
      option.animation = false;
      option.tooltip = { ...option.tooltip, confine: true };
      option.dataZoom = zooms(definition);
      fitLabels(option, printing ? paperWidth : element.clientWidth, definition.id, look);
      chart.setOption(option);
      for (const patch of patches) chart.setOption(resolve(patch, look));
      chart.getZr().on("dblclick", showAll);
      const links = linksOf(definition);
      if (links) chart.on("click", (params) => follow(links[cell(params, "run")]));
    };
    const follow = (link) => { if (link) location.href = link; };
    const showAll = () => {
      for (const dataZoomIndex of zooms(definition).keys()) {
        chart.dispatchAction({ type: "dataZoom", dataZoomIndex, start: 0, end: 100 });
      }
    };
    // From one share of the axis to another, around its middle.
    const zoom = (factor, move = 0) => {
      zooms(definition).forEach((_, dataZoomIndex) => {
        if (move && dataZoomIndex) return;
        const { start = 0, end = 100 } = chart.getOption().dataZoom[dataZoomIndex] ?? {};
        const half = Math.min(Math.max(((end - start) * factor) / 2, 0.05), 50);
        const middle = Math.min(Math.max((start + end) / 2 + move * 2 * half, half), 100 - half);
        chart.dispatchAction({ type: "dataZoom", dataZoomIndex, start: middle - half, end: middle + half });
      });
    };
    // A chart that has the focus is zoomed with keys.
    const steps = { "+": [0.5], "=": [0.5], "-": [2], ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25] };
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target !== element) return;
      if (event.key === "0") showAll();
      else if (event.key in steps) zoom(...steps[event.key]);
      else return;
      event.preventDefault();
    };
    element.addEventListener("keydown", press);
    render();
    const resized = new ResizeObserver(() => chart.resize());
    resized.observe(element);
    const preference = global.matchMedia("(prefers-color-scheme: dark)");
    preference.addEventListener("change", render);
    document.addEventListener("lapwing-theme", render);
    const print = () => {
      printing = true;
      render();
      chart.resize({ width: paperWidth });
    };
    const printed = () => {
      printing = false;
      render();
    };
    global.addEventListener("beforeprint", print);
    global.addEventListener("afterprint", printed);
    return {
      zoom,
      showAll,
      dispose() {
        resized.disconnect();
        element.removeEventListener("keydown", press);
        global.removeEventListener("beforeprint", print);
        global.removeEventListener("afterprint", printed);
        preference.removeEventListener("change", render);
        document.removeEventListener("lapwing-theme", render);
        chart.dispose();
      },
      // Looks at the data another way; later patches win.
      patch(patch) { patches = [patch]; render(); },
      replace(next) { definition = next; patches = []; render(); },
      svg() {
        return picture(definition.option, pageLook(), definition.width, definition.height, patches);
      },
    };
  }

  // Names often differ only at their end, so that is kept too; a whole one is shown on hover.
  function shortened(name, letters) {
    return name.length > letters ? `${name.slice(0, Math.ceil(letters / 2))}…${name.slice(-Math.floor(letters / 2))}` : name;
  }

  // Names of tests are longer than a phone is wide: beside a bar nothing would be left of either.
  function putNamesAboveBars(option, width, look) {
    const letters = Math.max(Math.floor((width - 40) / 6.2), 8);
    const whole = option.yAxis.axisLabel.formatter;
    option.yAxis.axisLabel = {
      ...option.yAxis.axisLabel, formatter: (value) => shortened(whole(value), letters),
      inside: true, margin: 2, verticalAlign: "bottom", padding: [0, 0, 1, 0], fontSize: 11, showMinLabel: true, showMaxLabel: true,
    };
    option.series[0].renderItem = functions.barOfRow({ below: true }, look);
  }

  // On a narrow page the names beside a plot must leave room for it.
  function fitLabels(option, width, id, look) {
    keepLastLabel(option, width);
    if (width > paperWidth) return;
    if (id === "bars") {
      putNamesAboveBars(option, width, look);
      return;
    }
    const letters = Math.max(Math.floor((width * 0.3) / 6.2), 4);
    const shorten = (name) => shortened(name, letters);
    for (const axis of [option.yAxis ?? []].flat()) {
      // A row of a heat map has room for one line.
      if (axis.inverse && axis.type === "category") axis.axisLabel = { ...axis.axisLabel, formatter: shorten, fontSize: 11 };
      else if (axis.inverse && axis.axisLabel.formatter?.narrow) {
        const { narrow } = axis.axisLabel.formatter;
        axis.axisLabel = { ...axis.axisLabel, formatter: (value) => narrow(value).split("\n").map(shorten).join("\n"), fontSize: 11, lineHeight: 13 };
      } else if (axis.inverse) axis.axisLabel = { ...axis.axisLabel, width: width * 0.3, overflow: "break", fontSize: 11, lineHeight: 13 };
    }
    for (const axis of [option.xAxis ?? []].flat()) {
      if (axis.position === "top" && axis.data) axis.axisLabel = { ...axis.axisLabel, width: (width * 0.6) / axis.data.length - 4, overflow: "break", fontSize: 11, lineHeight: 13 };
    }
  }

  // The same chart with its places on an axis of time.
  function onTimeAxis(definition) {
    const time = (place) => (Number.isInteger(place) ? definition.times[place] * 1000 : place);
    const { option } = definition;
    const { axisLine } = option.xAxis;
    const dataset = option.dataset.map((table) => ({ ...table, source: { ...table.source, place: table.source.place.map(time) } }));
    const series = option.series.map((it) => {
      if (it.name === "changes") {
        const ends = it.dimensions.map((name) => ["from", "last", "next", "to", "first", "end"].includes(name));
        const isGradual = ([, , last, next]) => Math.abs(next - last) > 1;
        const looks = it.renderItem.looks.map((look, at) => ({ ...look, isGradual: isGradual(it.data[at]) }));
        return { ...it, data: it.data.map((row) => row.map((value, at) => (ends[at] ? time(value) : value))), renderItem: { ...it.renderItem, looks } };
      }
      if (!it.markLine) return it;
      return { ...it, markLine: { ...it.markLine, data: it.markLine.data.map((mark) => ({ ...mark, xAxis: time(mark.xAxis) })) } };
    });
    return { ...definition, option: { ...option, xAxis: { type: "time", axisLine, axisLabel: { hideOverlap: true } }, dataset, series } };
  }

  // Labels that follow each other are not written twice: of the first places of each, as many as there is room for.
  function sayOnce(option, width) {
    const { data, axisLabel } = option.xAxis;
    if (data.every((text, at) => at === 0 || text !== data[at - 1])) return;
    const firsts = data.flatMap((text, at) => (at === 0 || text !== data[at - 1] ? [at] : []));
    const room = Math.max(...firsts.map((at) => data[at].length)) * 7 + 16;
    const apart = Math.max(1, (room * data.length) / Math.max(width - 80, 1));
    const shown = new Set();
    let last = -Infinity;
    for (const at of firsts) {
      if (at - last < apart) continue;
      shown.add(at);
      last = at;
    }
    option.xAxis = { ...option.xAxis, axisLabel: { ...axisLabel, interval: (at) => shown.has(at) }, axisTick: { ...option.xAxis.axisTick, interval: (at) => shown.has(at) } };
  }

  // Zooming must not steal the page's scrolling: the wheel zooms only with Shift held.
  function zooms(definition) {
    // Its cells and its curves have axes of their own.
    if (["detection", "treemap", "parallel"].includes(definition.id)) return [];
    if (["comparison", "ratios", "variability", "distribution", "bars", "means", "paths", "study_scree"].includes(definition.id)) {
      return [{ type: "inside", xAxisIndex: definition.id === "bars" ? [0, 1] : 0, filterMode: "none", zoomOnMouseWheel: "shift", moveOnMouseMove: "shift", moveOnMouseWheel: false }];
    }
    return [
      { type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "shift", moveOnMouseMove: "shift", moveOnMouseWheel: false },
      { type: "inside", yAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseMove: false, moveOnMouseWheel: false },
    ];
  }

  global.lapwingChart = { draw, prepareEngine, show, onTimeAxis, plainNumber, unpacked, scaleOf, shortened };
})(globalThis);
