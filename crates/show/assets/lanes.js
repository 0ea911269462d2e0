// The timeline. Every lane is a list of pieces that do not overlap. A frame is made pixel by pixel: a pixel shows
// the mean colour of what happened in its time, so that nothing is lost however far one zooms out. For that each
// long lane has levels: the shares of each kind in 2, 4, 8… equal parts of the whole time.
"use strict";
(async () => {
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas"), context = canvas.getContext("2d", { alpha: false });
  const ROW = 20, AXIS = 24;

  async function inflated(id) {
    const text = atob($(id).textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    $(id).remove();
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  const head = JSON.parse(new TextDecoder().decode(await inflated("head")));
  const bytes = await inflated("data");
  let place = 0;
  function number() {
    let byte = bytes[place++], value = byte & 0x7f, factor = 128;
    while (byte > 127) {
      byte = bytes[place++];
      value += (byte & 0x7f) * factor;
      factor *= 128;
    }
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  // --- Data

  const KINDS = head.kinds.length, LENGTH = Math.max(head.length, 1);
  const lanes = head.lanes.map((lane) => {
    const { pieces: count } = lane;
    const starts = new Uint32Array(count), ends = new Uint32Array(count);
    const kinds = new Uint8Array(count), items = new Int32Array(count);
    let before = 0, item = 0;
    for (let k = 0; k < count; k++) {
      starts[k] = before + number();
      ends[k] = before = starts[k] + number();
      kinds[k] = number();
      items[k] = item += number();
    }
    return { ...lane, count, starts, ends, kinds, items, levels: null };
  });

  const EVENTS = head.taskEvents.length, STEPS = head.transferEvents.length, MISSING = -1;
  const tasks = { fields: new Uint32Array(head.tasks * 3), events: new Float64Array(head.tasks * EVENTS) };
  const transfers = { fields: new Uint32Array(head.transfers * 4), events: new Float64Array(head.transfers * STEPS) };
  let time = 0;
  const readEvents = (events, from, to) => {
    for (let k = from; k < to; k++) events[k] = number() === -1 ? (time += number()) : MISSING;
  };
  for (const [of, fields, events] of [[tasks, 3, EVENTS], [transfers, 4, STEPS]]) {
    for (let k = 0; k < of.fields.length / fields; k++) {
      for (let field = 0; field < fields; field++) of.fields[k * fields + field] = number();
      readEvents(of.events, k * events, (k + 1) * events);
    }
  }

  const rgb = (text) => {
    const value = parseInt(text.slice(1, 7), 16);
    const opacity = text.length > 7 ? parseInt(text.slice(7), 16) / 255 : 1;
    return [value >> 16, (value >> 8) & 255, value & 255, opacity];
  };
  const colours = head.colours.map(rgb);

  // Which kinds a lane has, and their shares in ever smaller parts of the whole time.
  for (const lane of lanes) {
    const own = [...new Set(lane.kinds)].sort((a, b) => a - b);
    lane.own = own;
    lane.slot = new Uint8Array(KINDS);
    own.forEach((kind, slot) => { lane.slot[kind] = slot; });
    if (lane.count < 2048) continue;
    let parts = 1 << Math.min(20, Math.ceil(Math.log2(lane.count / 2)));
    const slots = own.length, sums = new Float32Array(parts * slots), width = LENGTH / parts;
    for (let k = 0; k < lane.count; k++) {
      const slot = lane.slot[lane.kinds[k]];
      let from = lane.starts[k];
      const to = lane.ends[k];
      for (let part = Math.min(parts - 1, Math.floor(from / width)); from < to && part < parts; part++) {
        const end = part === parts - 1 ? to : Math.min(to, (part + 1) * width);
        sums[part * slots + slot] += end - from;
        from = end;
      }
    }
    let level = new Uint8Array(parts * slots);
    for (let k = 0; k < sums.length; k++) level[k] = Math.min(255, Math.round((255 * sums[k]) / width));
    lane.levels = [];
    for (;;) {
      lane.levels[Math.log2(parts)] = level;
      if (parts <= 256) break;
      parts /= 2;
      const coarser = new Uint8Array(parts * slots);
      for (let part = 0; part < parts; part++) {
        for (let slot = 0; slot < slots; slot++) {
          coarser[part * slots + slot] = (level[2 * part * slots + slot] + level[(2 * part + 1) * slots + slot] + 1) >> 1;
        }
      }
      level = coarser;
    }
  }

  // --- View

  const view = { from: 0, to: LENGTH, top: 0, marked: null, chosen: null };
  let ratio = 1, width = 0, height = 0, left = 120, asked = false;
  const scale = () => (width - left) / (view.to - view.from);
  const firstEndingAfter = (lane, moment) => {
    let low = 0, high = lane.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.ends[middle] <= moment) low = middle + 1; else high = middle;
    }
    return low;
  };

  function resize() {
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    left = canvas.clientWidth < 600 ? 76 : 130;
    const wanted = AXIS + ROW * lanes.length + 4;
    const room = Math.max(240, window.innerHeight - canvas.getBoundingClientRect().top - window.scrollY - 90);
    canvas.style.height = `${Math.min(wanted, room)}px`;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    ask();
  }

  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  function settle() {
    const least = Math.min(LENGTH, 50);
    let length = Math.min(LENGTH, Math.max(least, view.to - view.from));
    view.from = Math.min(Math.max(0, view.from), LENGTH - length);
    view.to = view.from + length;
    view.top = Math.max(0, Math.min(view.top, AXIS + ROW * lanes.length - height));
    ask();
  }

  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function resolved(name) {
    probe.fillStyle = colour(name);
    probe.fillRect(0, 0, 1, 1);
    return probe.getImageData(0, 0, 1, 1).data;
  }

  let image = null, sums = null;
  // The mean colours of a lane's pixels, as they are kept in images.
  function paint(lane, row, pixels, background) {
    const span = view.to - view.from, each = span / pixels;
    sums.fill(0);
    const add = (pixel, kind, share) => {
      const [r, g, b, opacity] = colours[kind], weight = share * opacity;
      sums[4 * pixel] += r * weight;
      sums[4 * pixel + 1] += g * weight;
      sums[4 * pixel + 2] += b * weight;
      sums[4 * pixel + 3] += weight;
    };
    const wanted = Math.ceil(Math.log2(LENGTH / each));
    const level = lane.levels && lane.levels[Math.max(8, wanted)];
    if (level) {
      const parts = 1 << Math.max(8, wanted), slots = lane.own.length;
      for (let pixel = 0; pixel < pixels; pixel++) {
        const from = Math.floor(((view.from + pixel * each) / LENGTH) * parts);
        const to = Math.max(from + 1, Math.min(parts, Math.floor(((view.from + (pixel + 1) * each) / LENGTH) * parts)));
        for (let part = from; part < to; part++) {
          for (let slot = 0; slot < slots; slot++) {
            const share = level[part * slots + slot];
            if (share) add(pixel, lane.own[slot], share / 255 / (to - from));
          }
        }
      }
    } else {
      for (let k = firstEndingAfter(lane, view.from); k < lane.count && lane.starts[k] < view.to; k++) {
        const from = Math.max(0, (lane.starts[k] - view.from) / each);
        const to = Math.min(pixels, (lane.ends[k] - view.from) / each);
        const first = Math.floor(from), last = Math.min(pixels - 1, Math.floor(to));
        for (let pixel = first; pixel <= last; pixel++) {
          add(pixel, lane.kinds[k], Math.min(to, pixel + 1) - Math.max(from, pixel));
        }
      }
    }
    for (let pixel = 0; pixel < pixels; pixel++) {
      const rest = Math.max(0, 1 - sums[4 * pixel + 3]);
      const channel = (at) => Math.min(255, sums[4 * pixel + at] + background[at] * rest);
      row[pixel] = 0xff000000 | (channel(2) << 16) | (channel(1) << 8) | channel(0);
    }
  }

  function draw() {
    const [w, h] = [canvas.width, canvas.height];
    if (!w || !h) return;
    const begin = Math.round(left * ratio), pixels = w - begin;
    if (!image || image.width !== pixels || image.height !== h) {
      image = new ImageData(pixels, h);
      sums = new Float32Array(4 * pixels);
    }
    const background = resolved("--background");
    const whole = new Uint32Array(image.data.buffer);
    whole.fill(0xff000000 | (background[2] << 16) | (background[1] << 8) | background[0]);
    const row = new Uint32Array(pixels);
    const visible = [];
    lanes.forEach((lane, at) => {
      const top = AXIS + ROW * at - view.top;
      if (top < AXIS - ROW || top > height) return;
      visible.push([lane, top]);
      paint(lane, row, pixels, background);
      const thin = lane.kind === 2 ? 5 : 2;
      const from = Math.max(Math.round((top + thin) * ratio), Math.round(AXIS * ratio));
      const to = Math.min(h, Math.round((top + ROW - 2) * ratio));
      for (let y = from; y < to; y++) whole.set(row, y * pixels);
    });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colour("--background");
    context.fillRect(0, 0, w, h);
    context.putImageData(image, begin, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const font = getComputedStyle(document.body).fontFamily;
    context.font = `11px ${font}`;
    context.textBaseline = "middle";
    labels(visible);
    axis();
    window.lapwingLanes.frames += 1;
  }

  const x = (moment) => left + (moment - view.from) * scale();

  function labels(visible) {
    for (const [lane, top] of visible) {
      if (top < AXIS - ROW / 2) continue;
      context.fillStyle = colour("--background");
      context.fillRect(0, top, left, ROW);
      context.fillStyle = colour(lane.kind === 2 ? "--muted" : "--text");
      context.fillText(clipped(lane.name, left - 10), 4, top + ROW / 2);
      let shown = 0;
      context.fillStyle = "#fff";
      for (let k = firstEndingAfter(lane, view.from); k < lane.count && lane.starts[k] < view.to; k++) {
        if (++shown > 400) break;
        const from = Math.max(left, x(lane.starts[k])), room = Math.min(width, x(lane.ends[k])) - from - 6;
        if (room < 24 || lane.kind === 0 || ![0, 7].includes(lane.kinds[k])) continue;
        context.fillText(clipped(title(lane, lane.items[k]), room), from + 3, top + ROW / 2 + (lane.kind === 2 ? 1.5 : 0));
      }
      for (const chosen of [view.marked, view.chosen && new Set([view.chosen])]) {
        if (!chosen || chosen.size === 0) continue;
        context.strokeStyle = colour(chosen === view.marked ? "--attention" : "--accent");
        context.lineWidth = 2;
        let last = -9;
        for (let k = firstEndingAfter(lane, view.from), seen = 0; k < lane.count && lane.starts[k] < view.to && seen < 50000; k++, seen++) {
          if (!chosen.has(identity(lane, lane.items[k]))) continue;
          const from = Math.max(left, x(lane.starts[k])), to = Math.max(from + 2, x(lane.ends[k]));
          if (to < last + 1) continue;
          context.strokeRect(from, top + 1, to - from, ROW - 2);
          last = to;
        }
      }
    }
  }

  function clipped(text, room) {
    const most = Math.floor(room / 6);
    return text.length <= most ? text : most < 3 ? "" : `${text.slice(0, most - 1)}…`;
  }

  function axis() {
    context.fillStyle = colour("--background");
    context.fillRect(0, 0, width, AXIS);
    context.fillStyle = context.strokeStyle = colour("--muted");
    const wanted = (view.to - view.from) / Math.max(4, Math.floor((width - left) / 110));
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = power * [1, 2, 5, 10].find((it) => it * power >= wanted);
    context.lineWidth = 1;
    for (let moment = Math.ceil(view.from / step) * step; moment <= view.to; moment += step) {
      const at = Math.round(x(moment)) + 0.5;
      context.globalAlpha = 0.25;
      context.beginPath();
      context.moveTo(at, AXIS - 5);
      context.lineTo(at, height);
      context.stroke();
      context.globalAlpha = 1;
      if (at < width - 50) context.fillText(seconds(moment * head.unit, step * head.unit, view.to * head.unit), at + 3, AXIS / 2);
    }
  }

  // A time in ns, with as many digits as a step needs; in the unit that fits the largest.
  function seconds(value, step = Math.abs(value) / 1000 || 1, largest = value) {
    const [factor, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([size]) => Math.abs(largest) >= size) || [1, "ns"];
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / factor) - 1e-9)));
    return value === 0 ? "0" : `${(value / factor).toFixed(digits)} ${name}`;
  }

  // --- Items

  const text = (place) => head.texts[place];
  const identity = (lane, item) => `${lane.kind}:${item}`;
  function title(lane, item) {
    if (lane.kind === 1) return text(tasks.fields[3 * item]);
    return lane.kind === 2 ? text(transfers.fields[4 * item]) : "";
  }

  function pieceAt(event) {
    const box = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const lane = lanes[Math.floor((py - AXIS + view.top) / ROW)];
    if (!lane || py < AXIS || px < left) return null;
    const moment = view.from + (px - left) / scale(), near = 2 / scale();
    const k = firstEndingAfter(lane, moment - near);
    return k < lane.count && lane.starts[k] <= moment + near ? [lane, k] : null;
  }

  const cell = (tag, content) => {
    const made = document.createElement(tag);
    made.textContent = content;
    return made;
  };

  function show(lane, k) {
    const details = $("details"), item = lane.items[k];
    details.replaceChildren();
    if (lane.kind === 0) {
      const length = (lane.ends[k] - lane.starts[k]) * head.unit;
      details.append(cell("h2", head.kinds[lane.kinds[k]]), cell("p", `${seconds(length)} from ${seconds(lane.starts[k] * head.unit)} on`));
      return;
    }
    const [of, fields, names, count] = lane.kind === 1 ? [tasks, 3, head.taskEvents, EVENTS] : [transfers, 4, head.transferEvents, STEPS];
    const [name, one, two, mode] = of.fields.slice(fields * item, fields * item + fields);
    const about = lane.kind === 1 ? `class ${text(one)}, on ${text(two) || "no worker"}`
      : `from ${text(one) || "unknown"} to ${text(two)}, ${head.modes[mode]}`;
    const table = document.createElement("table");
    table.append(document.createElement("thead"), document.createElement("tbody"));
    const top = document.createElement("tr");
    top.append(cell("th", "event"), cell("th", "at"), cell("th", "after the one before"));
    table.tHead.append(top);
    let before = null;
    const events = [...names.keys()].filter((at) => of.events[count * item + at] !== MISSING);
    events.sort((a, b) => of.events[count * item + a] - of.events[count * item + b]);
    for (const at of events) {
      const moment = of.events[count * item + at], line = document.createElement("tr");
      line.append(cell("td", names[at]), cell("td", seconds(moment * head.unit, 1e3, view.to * head.unit)),
        cell("td", before === null ? "" : seconds((moment - before) * head.unit)));
      table.tBodies[0].append(line);
      before = moment;
    }
    details.append(cell("h2", text(name)), cell("p", about), table);
  }

  function find() {
    const wanted = $("search").value.trim().toLowerCase();
    view.marked = null;
    $("found").textContent = "";
    if (wanted) {
      const fitting = new Set();
      head.texts.forEach((it, at) => { if (it.toLowerCase().includes(wanted)) fitting.add(at); });
      view.marked = new Set();
      for (let k = 0; k < head.tasks; k++) {
        if (fitting.has(tasks.fields[3 * k])) view.marked.add(`1:${k}`);
      }
      const found = view.marked.size;
      for (let k = 0; k < head.transfers; k++) {
        if (fitting.has(transfers.fields[4 * k])) view.marked.add(`2:${k}`);
      }
      const [many, others] = [found.toLocaleString("en"), (view.marked.size - found).toLocaleString("en")];
      $("found").textContent = `${many} task${found === 1 ? "" : "s"}, ${others} transfer${view.marked.size - found === 1 ? "" : "s"}; Enter goes to the first`;
    }
    ask();
  }

  function goToFirst() {
    const first = view.marked && view.marked.values().next().value;
    if (!first) return;
    const [kind, item] = first.split(":").map(Number);
    lanes.forEach((lane, at) => {
      if (lane.kind !== kind) return;
      const k = lane.items.indexOf(item), last = lane.items.lastIndexOf(item);
      if (k < 0) return;
      const length = lane.ends[last] - lane.starts[k];
      [view.from, view.to] = [lane.starts[k] - length / 2, lane.ends[last] + length / 2];
      view.top = ROW * at - height / 2;
      view.chosen = first;
      show(lane, k);
      settle();
    });
  }

  // --- Hands

  function zoom(factor, at = (left + width) / 2) {
    const moment = view.from + (at - left) / scale();
    [view.from, view.to] = [moment - (moment - view.from) * factor, moment + (view.to - moment) * factor];
    settle();
  }

  function move(pixels, rows = 0) {
    const by = pixels / scale();
    view.from -= by;
    view.to -= by;
    view.top -= rows;
    settle();
  }

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (sideways) move(-sideways);
    else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 300), Math.max(left, event.offsetX));
  }, { passive: false });

  const fingers = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const [was, is] = [before, now].map((it) => Math.max(20, Math.abs(it[0] - other[0])));
      zoom(was / is, (now[0] + other[0]) / 2 - canvas.getBoundingClientRect().left);
    } else {
      move(now[0] - before[0], now[1] - before[1]);
    }
    fingers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      fingers.delete(event.pointerId);
      if (name === "pointercancel" || moved > 5) return;
      const found = pieceAt(event);
      view.chosen = found && identity(found[0], found[0].items[found[1]]);
      if (found) show(...found); else $("details").replaceChildren();
      ask();
    });
  }
  canvas.addEventListener("keydown", (event) => {
    const act = { ArrowLeft: () => move(80), ArrowRight: () => move(-80), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
      "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), "0": all }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  function all() {
    [view.from, view.to] = [0, LENGTH];
    settle();
  }
  $("in").addEventListener("click", () => zoom(0.5));
  $("out").addEventListener("click", () => zoom(2));
  $("fit").addEventListener("click", all);
  $("png").addEventListener("click", () => canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${document.title.replace(/[^\w.-]+/g, "-")}.png`;
    link.click();
    URL.revokeObjectURL(link.href);
  }));
  $("search").addEventListener("input", find);
  $("search").addEventListener("keydown", (event) => { if (event.key === "Enter") goToFirst(); });
  window.addEventListener("resize", resize);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ask);

  const used = new Set(lanes.flatMap((lane) => lane.own));
  head.kinds.forEach((name, kind) => {
    if (!used.has(kind)) return;
    const entry = cell("span", name), dot = document.createElement("i");
    dot.style.background = head.colours[kind];
    entry.prepend(dot);
    $("legend").append(entry);
  });

  // For tests and for whoever has the page open: the view in ns since the beginning, and the number of frames drawn.
  window.lapwingLanes = {
    frames: 0,
    range: () => [view.from * head.unit, view.to * head.unit],
    show(from, to) {
      [view.from, view.to] = [from / head.unit, to / head.unit];
      settle();
    },
    draw,
    length: LENGTH * head.unit,
  };
  resize();
})();
