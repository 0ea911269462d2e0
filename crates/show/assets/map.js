// The map of a history: a row for each benchmark, a column for each night. Drawn on a canvas, so that a million cells
// move smoothly; rows and columns narrower than a pixel are drawn as the strongest of them.
(function () {
  "use strict";

  const { settings, load, element, fromColumns } = window.lapwing;
  const level = 64;
  const steps = 30;
  const strongest = Math.LN2;
  const gap = 32;
  const noValue = 33;
  const labelled = 11;

  const canvas = document.getElementById("history-map");
  const pen = canvas.getContext("2d");
  const status = document.getElementById("map-cell");
  const range = document.getElementById("map-range");

  let nights = [];
  let map = null;
  let entry = null;
  let rows = [];
  let shown = [];
  let columns = [];
  let layers = [];
  let exact = null;
  // The part that is shown, in rows and columns.
  let view = { left: 0, top: 0, width: 1, height: 1 };
  let at = null;
  let frame = 0;

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function parsed(colour) {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return probe.getImageData(0, 0, 1, 1).data;
  }

  // The colours by character: grey as usual, then stronger and stronger.
  function palette() {
    const [back, usual, worse, better, neutral, failed] = ["--background", "--usual", "--worse", "--better", "--accent", "--failed"].map((it) => parsed(style(it)));
    const colours = new Uint32Array(128);
    const packed = ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red;
    const mixed = (to, share) => usual.map((from, channel) => Math.round(from + (to[channel] - from) * share));
    colours.fill(packed(usual));
    colours[gap] = packed(back);
    colours[noValue] = packed(failed);
    for (let step = 1; step <= steps; step += 1) {
      const share = 0.25 + 0.75 * (step / steps);
      colours[level + step] = packed(mixed(map.neutral ? neutral : worse, share));
      colours[level - step] = packed(mixed(map.neutral ? neutral : better, share));
    }
    return colours;
  }

  const rank = (cell) => (cell === gap ? -1 : cell === noValue ? steps + 0.5 : Math.abs(cell - level));

  // Pictures of all cells: each layer has half the rows, or half the columns, of the one before.
  function draw() {
    const colours = palette();
    const whole = { width: columns.length, height: shown.length, cells: new Uint8Array(columns.length * shown.length) };
    shown.forEach((row, y) => columns.forEach((column, x) => { whole.cells[y * columns.length + x] = map.cells[row].charCodeAt(column); }));
    layers = [];
    const made = new Map();
    // Powers of two in each direction, made when they are needed.
    const layer = (across, down) => {
      const name = `${across},${down}`;
      if (made.has(name)) return made.get(name);
      let own;
      if (across === 0 && down === 0) own = whole;
      else if (across > 0) own = halved(layer(across - 1, down).own, true);
      else own = halved(layer(across, down - 1).own, false);
      const picture = document.createElement("canvas");
      picture.width = Math.max(1, own.width);
      picture.height = Math.max(1, own.height);
      const image = new ImageData(picture.width, picture.height);
      new Uint32Array(image.data.buffer).set(Array.from(own.cells, (cell) => colours[cell]));
      picture.getContext("2d").putImageData(image, 0, 0);
      const result = { own, picture };
      made.set(name, result);
      return result;
    };
    layers = layer;
  }

  function halved({ width, height, cells }, across) {
    const [wide, high] = across ? [Math.ceil(width / 2), height] : [width, Math.ceil(height / 2)];
    const half = new Uint8Array(wide * high);
    for (let y = 0; y < high; y += 1) {
      for (let x = 0; x < wide; x += 1) {
        const first = across ? cells[y * width + 2 * x] : cells[2 * y * width + x];
        const has = across ? 2 * x + 1 < width : 2 * y + 1 < height;
        const second = has ? (across ? cells[y * width + 2 * x + 1] : cells[(2 * y + 1) * width + x]) : first;
        half[y * wide + x] = rank(second) > rank(first) ? second : first;
      }
    }
    return { width: wide, height: high, cells: half };
  }

  // --- The place of the cells on the canvas.

  function room() {
    const { clientWidth: width, clientHeight: height } = canvas;
    const left = Math.min(240, Math.max(90, width * 0.24));
    return { width, height, left, top: 0, right: 6, bottom: 22 };
  }

  function sizes() {
    const place = room();
    return {
      ...place,
      across: (place.width - place.left - place.right) / view.width,
      down: (place.height - place.top - place.bottom) / view.height,
    };
  }

  function limit() {
    view.width = Math.min(columns.length, Math.max(Math.min(4, columns.length), view.width));
    view.height = Math.min(shown.length, Math.max(Math.min(4, shown.length), view.height));
    view.left = Math.min(Math.max(0, view.left), columns.length - view.width);
    view.top = Math.min(Math.max(0, view.top), shown.length - view.height);
  }

  function paint() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paintNow);
  }

  function paintNow() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = canvas;
    if (!clientWidth || !map) return;
    if (canvas.width !== Math.round(clientWidth * ratio) || canvas.height !== Math.round(clientHeight * ratio)) {
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round(clientHeight * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, clientWidth, clientHeight);
    if (!shown.length || !columns.length) return;
    limit();
    const { left, top, width, height, right, bottom, across, down } = sizes();
    const halvings = (size) => Math.max(0, Math.floor(Math.log2(1 / (size * ratio))));
    const [far, deep] = [halvings(across), halvings(down)];
    const { picture } = layers(far, deep);
    pen.imageSmoothingEnabled = false;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width - left - right, height - top - bottom);
    pen.clip();
    pen.drawImage(picture, view.left / 2 ** far, view.top / 2 ** deep, view.width / 2 ** far, view.height / 2 ** deep, left, top, width - left - right, height - top - bottom);
    paintLines(left, top, across, down, width - right, height - bottom);
    pen.restore();
    paintNames(left, top, across, down, height - bottom);
    paintNights(left, across, width - right, height - bottom);
  }

  const xOf = (column, left, across) => left + (column - view.left) * across;
  const yOf = (row, top, down) => top + (row - view.top) * down;

  // Gaps between cells that are large enough, changes, failures, and the cell at hand.
  function paintLines(left, top, across, down, right, bottom) {
    pen.strokeStyle = style("--background");
    pen.lineWidth = 1;
    pen.beginPath();
    if (down >= 6) for (let row = Math.ceil(view.top); row <= view.top + view.height; row += 1) { const y = Math.round(yOf(row, top, down)) + 0.5; pen.moveTo(left, y); pen.lineTo(right, y); }
    if (across >= 6) for (let column = Math.ceil(view.left); column <= view.left + view.width; column += 1) { const x = Math.round(xOf(column, left, across)) + 0.5; pen.moveTo(x, top); pen.lineTo(x, bottom); }
    pen.stroke();
    const edge = { regression: style("--worse"), improvement: style("--better"), change: style("--text") };
    for (const [of, column, direction, open] of map.changes) {
      const y = map.rowAt[of];
      const x = map.columnAt[column];
      if (y === undefined || x === undefined) continue;
      const high = Math.max(3, down);
      pen.fillStyle = edge[direction] ?? edge.change;
      const wide = open ? 3 : 1.5;
      pen.fillRect(xOf(x, left, across) - wide / 2, yOf(y, top, down) + (down - high) / 2, wide, high);
    }
    if (across >= 9 && down >= 9) {
      pen.fillStyle = style("--background");
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.font = "11px system-ui, sans-serif";
      for (let row = Math.floor(view.top); row < Math.min(shown.length, view.top + view.height); row += 1) {
        for (let column = Math.floor(view.left); column < Math.min(columns.length, view.left + view.width); column += 1) {
          if (map.cells[shown[row]].charCodeAt(columns[column]) === noValue) pen.fillText("×", xOf(column + 0.5, left, across), yOf(row + 0.5, top, down));
        }
      }
    }
    if (at) {
      pen.strokeStyle = style("--text");
      pen.lineWidth = 1.5;
      pen.strokeRect(xOf(at.column, left, across) - 1, yOf(at.row, top, down) - 1, Math.max(4, across) + 2, Math.max(3, down) + 2);
    }
  }

  const shortName = (row) => row.id.replace(/^.*::/, "") + (row.name ? ` ${row.name}` : "");
  const groupOf = (row) => (row.id.includes("::") ? row.id.slice(0, row.id.indexOf("::")).replace(/^.*\//, "") : row.id.includes("[") ? row.id.slice(0, row.id.indexOf("[")) : "");

  function fitted(text, room) {
    if (pen.measureText(text).width <= room) return text;
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (pen.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
      else high = middle - 1;
    }
    return text.slice(0, low) + "…";
  }

  // Names where there is room for a line each; else those of their files, where several stand together.
  function paintNames(left, top, across, down, bottom) {
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.font = "11px system-ui, sans-serif";
    const mark = (row, y) => {
      const found = map.open.get(shown[row]);
      pen.fillStyle = found ? style(found === "regression" ? "--worse" : found === "improvement" ? "--better" : "--text") : style("--muted");
      return y;
    };
    const from = Math.floor(view.top);
    const to = Math.min(shown.length, Math.ceil(view.top + view.height));
    if (down >= labelled) {
      for (let row = from; row < to; row += 1) {
        const y = mark(row, yOf(row + 0.5, top, down));
        if (y > top && y < bottom) pen.fillText(fitted(shortName(rows[shown[row]]), left - 12), left - 6, y);
      }
      return;
    }
    let start = from;
    for (let row = from + 1; row <= to; row += 1) {
      const name = groupOf(rows[shown[start]]);
      if (row < to && groupOf(rows[shown[row]]) === name) continue;
      const [begin, end] = [Math.max(top, yOf(start, top, down)), Math.min(bottom, yOf(row, top, down))];
      pen.fillStyle = style("--muted");
      if (end - begin >= labelled && name) pen.fillText(fitted(name, left - 14), left - 8, (begin + end) / 2);
      pen.fillStyle = style("--line");
      pen.fillRect(left - 4, begin + 0.5, 1.5, Math.max(1, end - begin - 1));
      start = row;
    }
    for (let row = from; row < to; row += 1) {
      if (!map.open.has(shown[row])) continue;
      const y = mark(row, yOf(row + 0.5, top, down));
      pen.beginPath();
      pen.moveTo(left - 7, y - 4);
      pen.lineTo(left - 1, y);
      pen.lineTo(left - 7, y + 4);
      pen.fill();
    }
  }

  const nightText = (column) => { const [first] = nights[columns[column]].moments; return first.date ?? first.label; };

  function paintNights(left, across, right, bottom) {
    pen.textBaseline = "top";
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = style("--muted");
    const wide = Math.min(110, Math.max(...[0, columns.length - 1].map((it) => pen.measureText(nightText(it)).width))) + 16;
    const every = Math.max(1, Math.ceil(wide / across));
    let before = "";
    for (let column = Math.ceil(view.left / every) * every; column < Math.min(columns.length, view.left + view.width); column += every) {
      const x = xOf(column + 0.5, left, across);
      const text = fitted(nightText(column), 110);
      if (text === before) continue;
      before = text;
      const half = pen.measureText(text).width / 2;
      pen.textAlign = "center";
      if (x - half >= left - 40 && x + half <= right + 6) pen.fillText(text, x, bottom + 6);
    }
    range.textContent = view.width < columns.length || view.height < shown.length
      ? `${Math.round(view.height).toLocaleString("en")} of ${shown.length.toLocaleString("en")} benchmarks, ${Math.round(view.width)} of ${columns.length} nights`
      : `${shown.length.toLocaleString("en")} ${shown.length === 1 ? "row" : "rows"} × ${columns.length} nights`;
  }

  // --- A cell in words.

  const unitsOf = { s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]], B: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]] };

  function valueText(value) {
    const digits = (number) => Number(number.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
    const scale = unitsOf[map.unit]?.find(([size]) => Math.abs(value) >= size);
    if (scale) return `${digits(value / scale[0])} ${scale[1]}`;
    return digits(value) + (map.unit && map.unit !== "1" ? ` ${map.unit}` : "");
  }

  function momentOf(row, column) {
    const { moments } = nights[columns[column]];
    const place = map.places ? map.places[shown[row]].charCodeAt(columns[column]) - 48 : 0;
    return moments[place] ?? moments[0];
  }

  function deviation(cell) {
    const far = strongest * ((cell - level) / steps) ** 2;
    const percent = 100 * (Math.exp(far) - 1);
    const about = percent < 10 ? percent.toFixed(1) : percent.toFixed(0);
    const word = map.neutral ? "off" : cell > level ? "worse" : "better";
    return Math.abs(cell - level) === steps ? `twice the level before or more ${word}` : `about ${about} % ${word} than the level before`;
  }

  function describe() {
    if (!at) {
      status.textContent = "\u00a0";
      return;
    }
    const row = rows[shown[at.row]];
    const cell = map.cells[shown[at.row]].charCodeAt(columns[at.column]);
    const moment = momentOf(at.row, at.column);
    const value = exact?.[shown[at.row]]?.[columns[at.column]];
    const what = cell === gap ? "not measured" : cell === noValue ? "no usable value"
      : [value === undefined || value === null ? "" : valueText(value), cell === level ? "as usual" : deviation(cell)].filter(Boolean).join(", ");
    const changes = map.changes.filter(([of, column]) => of === shown[at.row] && column === columns[at.column]).map(([, , , , text]) => text);
    status.replaceChildren(
      element("strong", {}, row.id), row.name ? ` ${row.name}` : "", ` · ${[moment.label, moment.date].filter(Boolean).join(", ")} · `, what,
      ...changes.map((text) => element("span", {}, ` · ${text}`)));
    loadValues();
  }

  async function loadValues() {
    if (exact || !entry || entry.asked) return;
    const wanted = entry;
    wanted.asked = true;
    wanted.exact = await load(wanted.values);
    if (wanted === entry) {
      exact = wanted.exact;
      describe();
    }
  }

  function open() {
    if (!at) return;
    const row = rows[shown[at.row]];
    const moment = momentOf(at.row, at.column);
    const run = moment.runs[row.variant];
    const isMeasured = map.cells[shown[at.row]].charCodeAt(columns[at.column]) !== gap;
    const fragment = new URLSearchParams({ metric: entry.name, ...(run && isMeasured ? { trace: run } : {}) });
    location.href = `benchmark/${row.slug}.html#${fragment}`;
  }

  // --- Moving.

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    const { left, top, right, bottom, across, down, width, height } = sizes();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (x > width - right || y < top || y > height - bottom) return null;
    const column = Math.floor(view.left + Math.max(0, x - left) / across);
    const row = Math.floor(view.top + (y - top) / down);
    return column >= 0 && row >= 0 && column < columns.length && row < shown.length ? { column, row } : null;
  }

  function zoom(factor, centre) {
    const [x, y] = centre ?? [view.left + view.width / 2, view.top + view.height / 2];
    const [width, height] = [view.width, view.height];
    view.width *= factor;
    view.height *= factor;
    limit();
    view.left = x - (x - view.left) * (view.width / width);
    view.top = y - (y - view.top) * (view.height / height);
    paint();
  }

  function whole() {
    view = { left: 0, top: 0, width: columns.length, height: shown.length };
    paint();
  }

  let drag = null;
  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    drag = { x: event.clientX, y: event.clientY, moved: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before && drag) {
      const { across, down } = sizes();
      if (pointers.size === 2) {
        const [other] = [...pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, it]) => it);
        const distance = (it) => Math.hypot(it.clientX - other.clientX, it.clientY - other.clientY) || 1;
        zoom(distance(before) / distance(event));
      } else {
        view.left -= (event.clientX - before.clientX) / across;
        view.top -= (event.clientY - before.clientY) / down;
        paint();
      }
      drag.moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
      pointers.set(event.pointerId, event);
      return;
    }
    at = cellAt(event);
    describe();
    paint();
  });
  canvas.addEventListener("pointerup", (event) => {
    pointers.delete(event.pointerId);
    if (drag && drag.moved < 5) {
      at = cellAt(event);
      // A finger first shows the cell, and opens it when it comes again.
      const again = canvas.dataset.cell === JSON.stringify(at);
      canvas.dataset.cell = JSON.stringify(at);
      describe();
      paint();
      if (at && (event.pointerType === "mouse" || again)) open();
    }
    if (!pointers.size) drag = null;
  });
  canvas.addEventListener("pointercancel", (event) => { pointers.delete(event.pointerId); drag = null; });
  canvas.addEventListener("pointerleave", () => { if (!drag && document.activeElement !== canvas) { at = null; describe(); paint(); } });
  canvas.addEventListener("wheel", (event) => {
    const whole = view.width >= columns.length && view.height >= shown.length;
    // The page scrolls past a map that shows everything, unless a key says that the map is meant.
    if (whole && event.deltaY > 0) return;
    if (whole && !(event.shiftKey || event.ctrlKey) && canvas.dataset.used !== "yes") return;
    event.preventDefault();
    const cell = cellAt(event);
    zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY || event.deltaX)) / 300), cell && [cell.column + 0.5, cell.row + 0.5]);
  }, { passive: false });
  canvas.addEventListener("click", () => { canvas.dataset.used = "yes"; });
  canvas.addEventListener("dblclick", whole);
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [0, -10], PageDown: [0, 10] };
    const move = moves[event.key];
    if (move) {
      const from = at ?? { column: columns.length - 1 - move[0], row: -move[1] };
      at = { column: Math.min(columns.length - 1, Math.max(0, from.column + move[0])), row: Math.min(shown.length - 1, Math.max(0, from.row + move[1])) };
      if (at.column < view.left) view.left = at.column;
      if (at.column >= view.left + view.width) view.left = at.column + 1 - view.width;
      if (at.row < view.top) view.top = at.row;
      if (at.row >= view.top + view.height) view.top = at.row + 1 - view.height;
      describe();
    } else if (event.key === "Enter") open();
    else if (event.key === "+" || event.key === "=") zoom(1 / 1.4, at && [at.column, at.row]);
    else if (event.key === "-") zoom(1.4, at && [at.column, at.row]);
    else if (event.key === "0") whole();
    else if (event.key === "Escape") { at = null; describe(); }
    else return;
    event.preventDefault();
    paint();
  });
  const actions = { closer: () => zoom(1 / 1.6), wider: () => zoom(1.6), whole };
  for (const [name, act] of Object.entries(actions)) document.querySelector(`[data-action="${name}"]`).addEventListener("click", act);
  new ResizeObserver(paint).observe(canvas);

  function repaint() {
    if (!map) return;
    draw();
    paint();
  }

  document.addEventListener("lapwing-theme", repaint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

  // --- Rows that fit the fields above, in the order of their names.

  async function show(wanted) {
    const next = settings.maps.find(({ name }) => name === wanted.metric) ?? settings.maps.find(({ name }) => name === settings.metrics?.[0].name) ?? settings.maps[0];
    nights = await load(settings.nights);
    if (next !== entry) {
      entry = next;
      map = await load(entry.file);
      exact = entry.exact ?? null;
      rows = fromColumns(map.rows);
      const named = new Set(rows.map((row) => row.setting)).size > 1;
      for (const row of rows) row.name = named ? row.setting : "";
      map.open = new Map();
      for (const [row, , direction, isOpen] of map.changes) if (isOpen) map.open.set(row, map.open.get(row) === "regression" ? "regression" : direction);
    }
    const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.map((_, number) => number).filter((number) => {
      const row = rows[number];
      const text = `${row.suite} ${row.id} ${row.setting}`.toLowerCase();
      return words.every((word) => text.includes(word)) && (!wanted.suite || row.suite === wanted.suite);
    });
    // Columns in which none of these rows was measured are those of other suites.
    columns = nights.map((_, number) => number).filter((number) => shown.some((row) => map.cells[row].charCodeAt(number) !== gap));
    map.rowAt = [];
    shown.forEach((row, place) => { map.rowAt[row] = place; });
    map.columnAt = [];
    columns.forEach((column, place) => { map.columnAt[column] = place; });
    at = null;
    canvas.style.height = "";
    const most = canvas.clientHeight;
    canvas.style.height = `${Math.round(Math.min(most, Math.max(80, shown.length * 18 + 24)))}px`;
    draw();
    whole();
    describe();
    canvas.dataset.ready = "yes";
  }

  window.lapwing.views = { ...window.lapwing.views, map: show };
})();
