// The timeline. Every lane is a list of pieces that do not overlap. A frame is made pixel by pixel: a pixel shows
// the mean colour of what happened in its time, so that nothing is lost however far one zooms out. For that each
// long lane has levels: the shares of each kind in 2, 4, 8… equal parts of the whole time.
"use strict";
(async () => {
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas"), context = canvas.getContext("2d", { alpha: false });
  const ROW = 20, AXIS = 24, TRACK = 26;

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

  const KINDS = head.kinds, CLASSES = head.classColours, LENGTH = Math.max(head.length, 1), ZERO = head.zero;
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
    return { ...lane, count, starts, ends, kinds, items, shades: {} };
  });

  const EVENTS = head.taskEvents.length, STEPS = head.transferEvents.length, MISSING = -1;
  const REASONS = head.reasons.length;
  const tasks = {
    fields: new Uint32Array(head.tasks * 3), events: new Float64Array(head.tasks * EVENTS),
    cpu: new Float64Array(head.tasks), waits: new Float64Array(head.tasks * REASONS),
    inputs: new Array(head.tasks), outputs: Array.from({ length: head.tasks }, () => []), lanes: new Int32Array(head.tasks).fill(-1),
  };
  const transfers = { fields: new Uint32Array(head.transfers * 4), events: new Float64Array(head.transfers * STEPS) };
  let time = 0;
  const readEvents = (events, from, to) => {
    for (let k = from; k < to; k++) events[k] = number() === -1 ? (time += number()) : MISSING;
  };
  for (const [of, fields, events] of [[tasks, 3, EVENTS], [transfers, 4, STEPS]]) {
    for (let k = 0; k < of.fields.length / fields; k++) {
      for (let field = 0; field < fields; field++) of.fields[k * fields + field] = number();
      readEvents(of.events, k * events, (k + 1) * events);
      if (of !== tasks) continue;
      tasks.cpu[k] = number();
      tasks.inputs[k] = Array.from({ length: number() }, () => k - number());
      for (let reason = 0; reason < REASONS; reason++) tasks.waits[k * REASONS + reason] = number();
    }
  }
  tasks.inputs.forEach((inputs, task) => { for (const input of inputs) tasks.outputs[input].push(task); });
  lanes.forEach((lane, at) => { if (lane.kind === 1) for (const item of lane.items) tasks.lanes[item] = at; });
  const event = Object.fromEntries(head.taskEvents.map((name, at) => [name, (task) => tasks.events[EVENTS * task + at]]));
  const known = (moment, otherwise) => (moment === MISSING ? otherwise() : moment);
  const released = (task) => known(event.published(task), () => event.computed(task));
  const classes = new Map(head.classes);

  const rgb = (text) => {
    const value = parseInt(text.slice(1, 7), 16);
    const opacity = text.length > 7 ? parseInt(text.slice(7), 16) / 255 : 1;
    return [value >> 16, (value >> 8) & 255, value & 255, opacity];
  };
  const colours = head.colours.map(rgb);

  // The colours of a lane's pieces by class or by phase, and their shares in ever smaller parts of the whole time.
  let byClass = head.byClass;
  function shade(lane) {
    const known = lane.shades[byClass];
    if (known) return known;
    const keys = new Uint8Array(lane.count);
    for (let k = 0; k < lane.count; k++) {
      const kind = lane.kinds[k];
      if (!byClass || lane.kind !== 1) keys[k] = kind;
      else if (kind > 2) keys[k] = KINDS + 2 * CLASSES;
      else keys[k] = KINDS + (kind ? CLASSES : 0) + classes.get(tasks.fields[3 * lane.items[k] + 1]);
    }
    const made = { keys, own: [...new Set(keys)].sort((a, b) => a - b), levels: null };
    lane.shades[byClass] = made;
    if (lane.count >= 2048) made.levels = levelsOf(lane, made);
    return made;
  }

  function levelsOf(lane, { keys, own }) {
    const slot = new Uint8Array(colours.length);
    own.forEach((key, at) => { slot[key] = at; });
    let parts = 1 << Math.min(20, Math.ceil(Math.log2(lane.count / 2)));
    const slots = own.length, sums = new Float32Array(parts * slots), width = LENGTH / parts;
    for (let k = 0; k < lane.count; k++) {
      let from = lane.starts[k];
      const to = lane.ends[k];
      for (let part = Math.min(parts - 1, Math.floor(from / width)); from < to && part < parts; part++) {
        const end = part === parts - 1 ? to : Math.min(to, (part + 1) * width);
        sums[part * slots + slot[keys[k]]] += end - from;
        from = end;
      }
    }
    let level = new Uint8Array(parts * slots);
    for (let k = 0; k < sums.length; k++) level[k] = Math.min(255, Math.round((255 * sums[k]) / width));
    const levels = [];
    for (;;) {
      levels[Math.log2(parts)] = level;
      if (parts <= 256) return levels;
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

  // --- Counters: how many things go on at once, as steps with the sum over time up to each.

  function counter(name, starts, ends, weights) {
    const order = (moments) => {
      if (!weights) return Float64Array.from(moments).sort();
      const places = moments.map((_, k) => k).sort((a, b) => moments[a] - moments[b]);
      return { places, at: (k) => moments[places[k]] };
    };
    const [begins, leaves] = [order(starts), order(ends)], count = starts.length;
    const times = new Float64Array(2 * count), values = new Float64Array(2 * count), sums = new Float64Array(2 * count);
    const weight = (edges, k) => (weights ? weights[edges.places[k]] : 1);
    let value = 0, most = 0;
    for (let k = 0, begun = 0, left = 0; k < 2 * count; k++) {
      const isBegin = begun < count && begins.at(begun) < leaves.at(left);
      times[k] = isBegin ? begins.at(begun) : leaves.at(left);
      sums[k] = k ? sums[k - 1] + value * (times[k] - times[k - 1]) : 0;
      value += isBegin ? weight(begins, begun++) : -weight(leaves, left++);
      values[k] = value = Math.abs(value) < 1e-9 ? 0 : value;
      most = Math.max(most, value);
    }
    return { name, times, values, sums, most };
  }
  function sumUpTo({ times, values, sums }, moment) {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= moment) low = middle + 1; else high = middle;
    }
    return low ? sums[low - 1] + values[low - 1] * (moment - times[low - 1]) : 0;
  }
  const intervals = () => ({ starts: [], ends: [], weights: [] });
  const put = (of, from, to, weight) => { if (to > from) { of.starts.push(from); of.ends.push(to); of.weights.push(weight); } };
  const running = intervals(), computing = intervals(), copying = intervals();
  for (let k = 0; k < head.tasks; k++) {
    const from = event.started(k), to = released(k);
    if (from === MISSING || to === MISSING) continue;
    put(running, from, to);
    const begin = known(event.loaded(k), () => from), end = known(event.computed(k), () => to);
    if (tasks.cpu[k] >= 0) put(computing, begin, end, Math.min(1, tasks.cpu[k] / (end - begin)));
  }
  for (const lane of lanes) {
    for (let k = 0; lane.kind === 2 && k < lane.count; k++) if (lane.kinds[k] === 7) put(copying, lane.starts[k], lane.ends[k]);
  }
  const tracks = [counter(head.calls ? "running calls" : "running tasks", running.starts, running.ends),
    counter("cores in use", computing.starts, computing.ends, computing.weights), counter("copies", copying.starts, copying.ends)];
  // Of several hosts, the sum.
  head.resources.forEach((name, resource) => {
    const of = intervals();
    for (const [it, from, to, share] of head.pressures) if (it === resource && share > 0) put(of, Math.max(0, from), to, share);
    tracks.push({ ...counter(name, of.starts, of.ends, of.weights), isShare: true });
  });
  const shown = tracks.filter((track) => track.most > 0);
  const TOP = AXIS + TRACK * shown.length;

  // --- View

  const view = { from: 0, to: LENGTH, top: 0, marked: null, chosen: null, selected: null, path: null };
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
    const wanted = TOP + ROW * lanes.length + 4;
    const beside = getComputedStyle($("stage")).display === "grid";
    const room = Math.max(260, (window.innerHeight - canvas.getBoundingClientRect().top - window.scrollY - 70) * (beside ? 1 : 0.6));
    canvas.style.height = `${Math.min(wanted, room)}px`;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    $("map").width = Math.round($("map").clientWidth * ratio);
    $("map").height = Math.round($("map").clientHeight * ratio);
    if (beside) $("panel").style.maxHeight = `${Math.max($("drawing").clientHeight, 360)}px`;
    else $("panel").style.maxHeight = "";
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
    view.top = Math.max(0, Math.min(view.top, TOP + ROW * lanes.length - height));
    ask();
    sumUpSoon();
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
    const { keys, own, levels } = shade(lane);
    const level = levels && levels[Math.max(8, wanted)];
    if (level) {
      const parts = 1 << Math.max(8, wanted), slots = own.length;
      for (let pixel = 0; pixel < pixels; pixel++) {
        const from = Math.floor(((view.from + pixel * each) / LENGTH) * parts);
        const to = Math.max(from + 1, Math.min(parts, Math.floor(((view.from + (pixel + 1) * each) / LENGTH) * parts)));
        for (let part = from; part < to; part++) {
          for (let slot = 0; slot < slots; slot++) {
            const share = level[part * slots + slot];
            if (share) add(pixel, own[slot], share / 255 / (to - from));
          }
        }
      }
    } else {
      for (let k = firstEndingAfter(lane, view.from); k < lane.count && lane.starts[k] < view.to; k++) {
        const from = Math.max(0, (lane.starts[k] - view.from) / each);
        const to = Math.min(pixels, (lane.ends[k] - view.from) / each);
        const first = Math.floor(from), last = Math.min(pixels - 1, Math.floor(to));
        for (let pixel = first; pixel <= last; pixel++) {
          add(pixel, keys[k], Math.min(to, pixel + 1) - Math.max(from, pixel));
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
      const top = TOP + ROW * at - view.top;
      if (top < TOP - ROW || top > height) return;
      visible.push([lane, top]);
      paint(lane, row, pixels, background);
      const thin = lane.kind === 2 ? 5 : 2;
      const from = Math.max(Math.round((top + thin) * ratio), Math.round(TOP * ratio));
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
    context.save();
    context.beginPath();
    context.rect(0, TOP, width, height);
    context.clip();
    for (const [lane, top] of visible) pieces(lane, top);
    context.beginPath();
    context.rect(left, TOP, width, height);
    context.clip();
    arrows();
    context.restore();
    axis();
    counters();
    selection();
    map();
    window.lapwingLanes.frames += 1;
  }

  const x = (moment) => left + (moment - view.from) * scale();

  const dark = colours.map(([r, g, b, opacity]) => opacity > 0.9 && 0.3 * r + 0.59 * g + 0.11 * b < 150);

  // What stands on a lane: its name, lines between neighbours, names where they fit, and what is marked.
  function pieces(lane, top) {
    context.fillStyle = colour("--background");
    context.fillRect(0, top, left, ROW);
    context.fillStyle = colour(lane.kind === 2 ? "--muted" : "--text");
    context.fillText(clipped(lane.name, left - 10), 4, top + ROW / 2);
    const first = firstEndingAfter(lane, view.from);
    const { keys } = shade(lane);
    const dense = firstEndingAfter(lane, view.to) - first > (width - left) / 2;
    const outlines = [[view.path && view.path.items, "--attention"], [view.marked, "--attention"], [view.chosen && new Set([view.chosen]), "--accent"]];
    for (let k = first, seen = 0; !dense && k < lane.count && lane.starts[k] < view.to; k++) {
      const from = x(lane.starts[k]), to = x(lane.ends[k]);
      const begin = Math.max(left, from), room = Math.min(width, to) - begin - 6;
      if (k > 0 && to - from > 3 && from > left && lane.starts[k] === lane.ends[k - 1] && (lane.items[k] !== lane.items[k - 1] || keys[k] !== keys[k - 1])) {
        context.fillStyle = colour("--background");
        context.fillRect(Math.round(from) - 0.5, top, 1, ROW);
      }
      if (room < 20 || lane.kind === 0 || ![0, 7].includes(lane.kinds[k]) || ++seen > 400) continue;
      context.fillStyle = dark[keys[k]] ? "#fff" : "#14181c";
      context.fillText(clipped(title(lane, lane.items[k]), room), begin + 3, top + ROW / 2 + (lane.kind === 2 ? 1.5 : 0));
    }
    for (const [items, name] of outlines) {
      if (!items || items.size === 0) continue;
      context.strokeStyle = colour(name);
      context.lineWidth = 2;
      let last = -9;
      for (let k = first, seen = 0; k < lane.count && lane.starts[k] < view.to && seen < 50000; k++, seen++) {
        if (!items.has(identity(lane, lane.items[k]))) continue;
        const from = Math.max(left, x(lane.starts[k]));
        let end = lane.ends[k];
        while (k + 1 < lane.count && lane.items[k + 1] === lane.items[k] && lane.starts[k + 1] === end) end = lane.ends[++k];
        const to = Math.max(from + 2, x(end));
        if (to < last + 1) continue;
        context.strokeRect(from, top + 1, to - from, ROW - 2);
        last = to;
      }
    }
  }

  // --- What waits for what

  // The last of the inputs of a task: it waited for that.
  const lastInput = (task) => tasks.inputs[task].reduce((last, it) => (last < 0 || released(it) > released(last) ? it : last), -1);
  function arrow(from, to, name, dashed) {
    if (tasks.lanes[from] < 0 || tasks.lanes[to] < 0) return;
    const at = (task, moment) => [x(moment), TOP + ROW * (tasks.lanes[task] + 0.5) - view.top];
    const [x1, y1] = at(from, released(from)), [x2, y2] = at(to, known(event.started(to), () => event.planned(to)));
    if (Math.max(x1, x2) < left || Math.min(x1, x2) > width) return;
    const bend = Math.max(8, Math.min(60, Math.abs(x2 - x1) / 2));
    context.strokeStyle = context.fillStyle = colour(name);
    context.lineWidth = 1.5;
    context.setLineDash(dashed ? [4, 3] : []);
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 3, y2);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 6, y2 - 3.5);
    context.lineTo(x2 - 6, y2 + 3.5);
    context.fill();
  }
  function arrows() {
    const path = view.path ? view.path.tasks : [];
    for (let k = 1; k < path.length; k++) arrow(path[k - 1], path[k], "--attention", false);
    if (!view.chosen || !view.chosen.startsWith("1:")) return;
    const task = Number(view.chosen.slice(2));
    for (let at = lastInput(task), to = task, seen = 0; at >= 0 && seen < 1000; [to, at] = [at, lastInput(at)], seen++) {
      if (to !== task) arrow(at, to, "--accent", true);
    }
    for (const input of tasks.inputs[task].slice(0, 300)) arrow(input, task, "--accent", false);
    for (const output of tasks.outputs[task].slice(0, 300)) arrow(task, output, "--muted", false);
  }

  // --- Counters, range and map

  function counters() {
    shown.forEach((track, at) => {
      const top = AXIS + TRACK * at, pixels = Math.floor(width - left), each = (view.to - view.from) / pixels;
      context.fillStyle = colour("--background");
      context.fillRect(0, top, width, TRACK);
      context.fillStyle = colour("--muted");
      const highest = track.most * (track.isShare ? 100 : 1);
      const most = `${highest >= 10 ? Math.round(highest) : Number(highest.toPrecision(2))}${track.isShare ? " %" : ""}`;
      context.fillText(clipped(left < 100 ? track.name.split(" ").at(-1) : `${track.name} ≤ ${most}`, left - 6), 4, top + TRACK / 2);
      area(context, track, left, top + 2, pixels, TRACK - 4, view.from, each);
    });
  }
  function area(target, track, x0, y0, pixels, high, from, each) {
    target.fillStyle = colour("--accent");
    target.globalAlpha = 0.55;
    let before = sumUpTo(track, from);
    for (let pixel = 0; pixel < pixels; pixel++) {
      const after = sumUpTo(track, from + (pixel + 1) * each), tall = ((after - before) / each / track.most) * high;
      if (tall > 0) target.fillRect(x0 + pixel, y0 + high - tall, 1, tall);
      before = after;
    }
    target.globalAlpha = 1;
  }
  function selection() {
    if (!view.selected) return;
    const from = Math.max(left, x(view.selected[0])), to = Math.min(width, x(view.selected[1]));
    if (to <= left || from >= width) return;
    context.fillStyle = context.strokeStyle = colour("--accent");
    context.globalAlpha = 0.14;
    context.fillRect(from, 0, to - from, height);
    context.globalAlpha = 1;
    context.lineWidth = 1;
    context.strokeRect(Math.round(from) + 0.5, 0.5, Math.round(to - from), height);
  }
  function map() {
    const box = $("map"), target = box.getContext("2d");
    const [w, h] = [box.clientWidth, box.clientHeight], pixels = Math.floor(w - left);
    target.setTransform(ratio, 0, 0, ratio, 0, 0);
    target.clearRect(0, 0, w, h);
    target.font = context.font;
    target.textBaseline = "middle";
    target.fillStyle = colour("--muted");
    target.fillText("whole trace", 4, h / 2);
    if (tracks[0].most > 0) area(target, tracks[0], left, 2, pixels, h - 4, 0, LENGTH / pixels);
    const [from, to] = [view.from, view.to].map((it) => left + (it / LENGTH) * pixels);
    target.strokeStyle = colour("--text");
    target.lineWidth = 1.5;
    target.strokeRect(from + 0.75, 1, Math.max(3, to - from - 1.5), h - 2);
  }

  function clipped(text, room) {
    const most = Math.floor(room / 6);
    if (text.length <= most || (text.length < 2 * most && context.measureText(text).width <= room)) return text;
    return most < 3 ? "" : `${text.slice(0, most - 1)}…`;
  }

  function axis() {
    context.fillStyle = colour("--background");
    context.fillRect(0, 0, width, AXIS);
    context.fillStyle = context.strokeStyle = colour("--muted");
    const wanted = (view.to - view.from) / Math.max(4, Math.floor((width - left) / 110));
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = power * [1, 2, 5, 10].find((it) => it * power >= wanted);
    context.lineWidth = 1;
    for (let moment = Math.ceil((view.from - ZERO) / step) * step + ZERO; moment <= view.to; moment += step) {
      const at = Math.round(x(moment)) + 0.5;
      context.globalAlpha = 0.25;
      context.beginPath();
      context.moveTo(at, AXIS - 5);
      context.lineTo(at, height);
      context.stroke();
      context.globalAlpha = 1;
      if (at < width - 50) context.fillText(since(moment, step), at + 3, AXIS / 2);
    }
  }

  // A time in ns, with as many digits as a step needs; in the unit that fits the largest.
  function seconds(value, step = Math.abs(value) / 100 || 1, largest = value) {
    // Marks of an axis are in seconds.
    const [factor, name] = [...(largest === value ? [[3.6e12, "h", 2], [6e10, "min", 2]] : []), [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([size, , least = 1]) => Math.abs(largest) >= least * size) || [1, "ns"];
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / factor) - 1e-9)));
    return value === 0 ? "0" : `${(value / factor).toFixed(digits)} ${name}`;
  }

  // A moment since the first event of a task, in seconds as on the axis.
  function since(moment, step = (view.to - view.from) / 100) {
    const value = Math.round((moment - ZERO) * head.unit);
    const text = seconds(Math.abs(value), step * head.unit, Math.abs(view.to - ZERO) * head.unit + 1);
    return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
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
    const lane = lanes[Math.floor((py - TOP + view.top) / ROW)];
    if (!lane || py < TOP || px < left) return null;
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
      details.append(cell("h2", head.titles[lane.kinds[k]]), cell("p", `${seconds(length)} from ${since(lane.starts[k])} on`));
      return;
    }
    const [of, fields, names, count] = lane.kind === 1 ? [tasks, 3, head.taskEvents, EVENTS] : [transfers, 4, head.transferEvents, STEPS];
    const [name, one, two, mode] = of.fields.slice(fields * item, fields * item + fields);
    const about = lane.kind === 1 ? `class ${text(one)}, on ${text(two) || "no worker"}`
      : `from ${text(one) || "unknown"} to ${text(two)}, ${head.modes[mode]}`;
    const table = document.createElement("table");
    table.append(document.createElement("thead"), document.createElement("tbody"));
    const top = document.createElement("tr");
    top.append(cell("th", "event"), cell("th", "at"), cell("th", "after"));
    table.tHead.append(top);
    let before = null;
    const events = [...names.keys()].filter((at) => of.events[count * item + at] !== MISSING);
    events.sort((a, b) => of.events[count * item + a] - of.events[count * item + b]);
    for (const at of events) {
      const moment = of.events[count * item + at], line = document.createElement("tr");
      line.append(cell("td", names[at]), cell("td", since(moment, 1e3 / head.unit)),
        cell("td", before === null ? "" : seconds((moment - before) * head.unit)));
      table.tBodies[0].append(line);
      before = moment;
    }
    details.append(cell("h2", text(name)), cell("p", about), table);
    if (lane.kind !== 1 || head.calls) return;
    const waits = head.reasons.map((meaning, at) => [tasks.waits[REASONS * item + at] * head.unit, meaning]).filter(([time]) => time > 0);
    if (waits.length > 0) details.append(cell("h3", "Waited once its inputs were done"), rows(waits.map(([time, meaning]) => [meaning, seconds(time)])));
    for (const [heading, others] of [["Waits for", tasks.inputs[item]], ["Needed by", tasks.outputs[item]]]) {
      if (others.length === 0) continue;
      const list = document.createElement("p");
      for (const other of others.slice(0, 30)) {
        const link = cell("button", text(tasks.fields[3 * other]));
        link.addEventListener("click", () => goTo(`1:${other}`));
        list.append(link, " ");
      }
      if (others.length > 30) list.append(`and ${others.length - 30} more`);
      details.append(cell("h3", heading), list);
    }
  }

  function rows(lines) {
    const table = document.createElement("table"), body = document.createElement("tbody");
    table.append(body);
    for (const line of lines) {
      const row = document.createElement("tr");
      line.forEach((content, at) => {
        const made = cell(at ? "td" : "th", content);
        if (at) made.className = "number"; else made.scope = "row";
        row.append(made);
      });
      body.append(row);
    }
    return table;
  }

  // --- Sums over the selected range, or over what is shown

  let waiting = 0;
  function sumUpSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(sumUp, 120);
  }
  // Tasks under way between two moments, the time of each phase and class in it, and the waits of tasks that start in it.
  function sumsWithin(from, to) {
    const found = { tasks: 0, phases: new Map(), classes: new Map(), waits: new Float64Array(REASONS) };
    const add = (map, key, time) => map.set(key, (map.get(key) || 0) + time);
    for (const lane of lanes) {
      if (lane.kind !== 1) continue;
      for (let k = firstEndingAfter(lane, from); k < lane.count && lane.starts[k] < to; k++) {
        add(found.phases, lane.kinds[k], Math.min(to, lane.ends[k]) - Math.max(from, lane.starts[k]));
      }
    }
    for (let task = 0; task < head.tasks; task++) {
      let first = Infinity, last = -Infinity;
      for (let at = EVENTS * task; at < EVENTS * (task + 1); at++) {
        const moment = tasks.events[at];
        if (moment === MISSING) continue;
        if (moment < first) first = moment;
        if (moment > last) last = moment;
      }
      // What has no end goes on.
      const end = known(event.completed(task), () => released(task)) === MISSING ? Infinity : last;
      if (!(first < to && (end > from || (end === first && first === from)))) continue;
      found.tasks += 1;
      const name = tasks.fields[3 * task + 1], of = found.classes.get(name) || [0, 0];
      const start = event.started(task), left = released(task);
      of[0] += 1;
      if (start !== MISSING && left !== MISSING) of[1] += Math.max(0, Math.min(to, left) - Math.max(from, start));
      found.classes.set(name, of);
      if (start === MISSING || start < from || start >= to) continue;
      for (let reason = 0; reason < REASONS; reason++) found.waits[reason] += tasks.waits[REASONS * task + reason];
    }
    return found;
  }
  function sumUp() {
    const [from, to] = view.selected || [view.from, view.to];
    const found = sumsWithin(from, to), box = $("sums");
    box.replaceChildren(cell("h2", view.selected ? "Selected range" : "Shown range"));
    box.append(cell("p", `${since(from)} to ${since(to)}: ${count(found.tasks, head.calls ? "call" : "task")} under way`));
    const sorted = (entries) => entries.sort((a, b) => b.at(-1) - a.at(-1));
    const times = (entries) => entries.map((entry) => [...entry.slice(0, -1), seconds(entry.at(-1) * head.unit)]);
    const section = (heading, lines) => { if (lines.length > 0) box.append(cell("h3", heading), rows(lines)); };
    const ofClasses = sorted([...found.classes].map(([name, [number, busy]]) => [text(name), number.toLocaleString("en"), busy]));
    const most = ofClasses.slice(0, 12);
    if (ofClasses.length > 12) {
      const rest = ofClasses.slice(12);
      const sum = (at) => rest.reduce((sum, entry) => sum + Number(String(entry[at]).replaceAll(",", "")), 0);
      most.push([`${rest.length} other classes`, sum(1).toLocaleString("en"), sum(2)]);
    }
    if (head.calls) {
      section("Calls by class", most.map(([name, number]) => [name, number]));
    } else {
      section("Tasks and busy time by class", times(most));
      section("Time of workers", times(sorted([...found.phases].map(([kind, time]) => [head.titles[kind], time]))));
      const waits = head.reasons.map((meaning, at) => [meaning, found.waits[at]]).filter(([, time]) => time > 0);
      section("Waits of tasks that start in it", times(sorted(waits)));
    }
  }
  const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  function select(range) {
    view.selected = range && range[1] > range[0] ? range : null;
    ask();
    sumUpSoon();
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
    if (first) goTo(first, 1 / 3);
  }
  // Shows an item: zooms to it unless it is in view and takes so much of it.
  function goTo(wanted, least = 0) {
    const [kind, item] = wanted.split(":").map(Number);
    lanes.forEach((lane, at) => {
      if (lane.kind !== kind) return;
      const k = lane.items.indexOf(item), last = lane.items.lastIndexOf(item);
      if (k < 0) return;
      const length = lane.ends[last] - lane.starts[k];
      if (lane.starts[k] < view.from || lane.ends[last] > view.to || length * scale() < 8 || length < least * (view.to - view.from)) {
        [view.from, view.to] = [lane.starts[k] - length, lane.ends[last] + length];
      }
      const y = TOP + ROW * at - view.top;
      if (y < TOP || y > height - ROW) view.top = ROW * at - (height - TOP) / 2;
      view.chosen = wanted;
      show(lane, k);
      settle();
    });
  }
  // The next or the previous task of the lane of the chosen one.
  function step(by) {
    if (!view.chosen || !view.chosen.startsWith("1:")) {
      const lane = lanes.find((it) => it.kind === 1 && it.count > 0);
      if (lane) goTo(`1:${lane.items[Math.min(lane.count - 1, firstEndingAfter(lane, view.from))]}`);
      return;
    }
    const item = Number(view.chosen.slice(2)), lane = lanes[tasks.lanes[item]];
    let k = by > 0 ? lane.items.lastIndexOf(item) + 1 : lane.items.indexOf(item) - 1;
    if (k >= 0 && k < lane.count) goTo(`1:${lane.items[k]}`);
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
  let moved = 0, selecting = null;
  const momentAt = (px) => Math.max(0, Math.min(LENGTH, view.from + (Math.max(left, px) - left) / scale()));
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    moved = 0;
    selecting = event.shiftKey || event.offsetY < TOP ? momentAt(event.offsetX) : null;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (selecting !== null && fingers.size === 1) {
      const moment = momentAt(now[0] - canvas.getBoundingClientRect().left);
      select([Math.min(selecting, moment), Math.max(selecting, moment)]);
    } else if (fingers.size === 2) {
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
      if (selecting !== null) select(null);
      const found = pieceAt(event);
      view.chosen = found && identity(found[0], found[0].items[found[1]]);
      if (found) show(...found); else $("details").replaceChildren();
      $("panel").scrollTop = 0;
      ask();
    });
  }
  canvas.addEventListener("keydown", (event) => {
    const act = { ArrowLeft: () => move(80), ArrowRight: () => move(-80), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
      "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), "0": all, n: () => step(1), p: () => step(-1), Escape: none }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  function none() {
    view.chosen = null;
    $("details").replaceChildren();
    select(null);
  }
  const toMap = (event) => {
    if (!event.buttons) return;
    const length = view.to - view.from, moment = ((event.offsetX - left) / (width - left)) * LENGTH;
    [view.from, view.to] = [moment - length / 2, moment + length / 2];
    settle();
  };
  $("map").addEventListener("pointerdown", toMap);
  $("map").addEventListener("pointermove", toMap);
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

  function legend() {
    const used = new Set(lanes.flatMap((lane) => shade(lane).own));
    $("legend").replaceChildren();
    // What tasks are coloured by comes first.
    const order = [...head.titles.keys()];
    for (const key of [...order.slice(KINDS), ...order.slice(0, KINDS)]) {
      const name = head.titles[key];
      if (!name || !(used.has(key) || (key >= KINDS && key < KINDS + CLASSES && used.has(key + CLASSES)))) continue;
      const entry = cell("span", name), dot = document.createElement("i");
      dot.style.background = head.colours[key];
      entry.prepend(dot);
      $("legend").append(entry);
    }
    if (byClass) $("legend").append(cell("span", "lighter while loading inputs or publishing results"));
    $("class").setAttribute("aria-pressed", byClass);
  }
  $("class").addEventListener("click", () => {
    byClass = !byClass;
    legend();
    resize();
  });
  for (const path of head.paths) {
    const button = cell("button", path.code === "path" ? "Path to the end" : "Critical path");
    button.id = path.code;
    button.setAttribute("aria-pressed", false);
    path.items = new Set(path.tasks.map((task) => `1:${task}`));
    button.addEventListener("click", () => {
      view.path = view.path === path ? null : path;
      for (const other of $("paths").children) other.setAttribute("aria-pressed", other === button && view.path === path);
      $("found").textContent = view.path ? path.text : "";
      resize();
    });
    $("paths").append(button);
  }
  legend();

  // For tests: the view in ns since the first lane begins, and the number of frames drawn.
  window.lapwingLanes = {
    frames: 0,
    range: () => [view.from * head.unit, view.to * head.unit],
    show(from, to) {
      [view.from, view.to] = [from / head.unit, to / head.unit];
      settle();
    },
    draw,
    sums() {
      const found = sumsWithin(...(view.selected || [view.from, view.to])), unit = (time) => time * head.unit;
      return {
        tasks: found.tasks,
        phases: Object.fromEntries([...found.phases].map(([kind, time]) => [head.titles[kind], unit(time)])),
        classes: Object.fromEntries([...found.classes].map(([name, [number, busy]]) => [text(name), [number, unit(busy)]])),
        waits: Object.fromEntries(head.reasons.map((meaning, at) => [meaning, unit(found.waits[at])])),
      };
    },
    select: (from, to) => select([from / head.unit + ZERO, to / head.unit + ZERO]),
    selected: () => view.selected && view.selected.map((it) => (it - ZERO) * head.unit),
    length: LENGTH * head.unit,
    top: TOP,
  };
  resize();
  sumUp();
})();
