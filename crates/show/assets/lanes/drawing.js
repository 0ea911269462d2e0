// Draws lanes, tracks, arrows, the axis and the map.

const canvas = $("canvas"), context = canvas.getContext("2d", { alpha: false });
const ROW = 20, AXIS = 24, TRACK = 26;
const TOP = AXIS + TRACK * shown.length;

const view = { from: 0, to: LENGTH, top: 0, marked: null, chosen: null, selected: null, path: null, hover: null };
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
  for (const [lane, top] of visible) if (lane.kind === 3) heading(lane, top); else pieces(lane, top);
  context.beginPath();
  context.rect(left, TOP, width, height);
  context.clip();
  arrows();
  context.restore();
  axis();
  counters();
  divergence();
  selection();
  hint();
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
  const outlines = [[view.path && view.path.items, "--attention"], [view.marked, "--attention"], [both(view.chosen), "--accent"], [view.hover && both(view.hover.item), "--accent"],
    [head.runs && new Set(head.runs.first.map((task) => `1:${task}`)), "--attention"]];
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

// The line above the lanes of a run.
function heading(lane, top) {
  context.fillStyle = colour("--background");
  context.fillRect(0, top, width, ROW);
  context.fillStyle = context.strokeStyle = colour("--text");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, Math.round(top) + 0.5);
  context.lineTo(width, Math.round(top) + 0.5);
  context.stroke();
  const font = context.font;
  context.font = `bold ${font}`;
  context.fillText(clipped(lane.name, width - 10), 4, top + ROW / 2 + 1);
  context.font = font;
}

// A chosen task and its like in the other run.
function both(item) {
  if (!item) return null;
  const other = item.startsWith("1:") ? like(Number(item.slice(2))) : -1;
  return new Set(other < 0 ? [item] : [item, `1:${other}`]);
}

// The line at the first divergence, with its name where there is room.
function divergence() {
  const moment = head.divergence;
  if (moment === undefined || moment === null || moment < view.from || moment > view.to) return;
  const at = Math.round(x(moment)) + 0.5, name = "first divergence", wide = context.measureText(name).width + 6;
  context.strokeStyle = context.fillStyle = colour("--attention");
  context.lineWidth = 1.5;
  context.setLineDash([5, 3]);
  context.beginPath();
  context.moveTo(at, 0);
  context.lineTo(at, height);
  context.stroke();
  context.setLineDash([]);
  const from = at + wide < width ? at + 2 : at - wide - 2;
  context.fillRect(from, 3, wide, 16);
  context.fillStyle = colour("--background");
  context.fillText(name, from + 3, AXIS / 2);
}

// The durations of the task under the pointer and of its like.
function hint() {
  const task = view.hover && view.hover.item.startsWith("1:") ? Number(view.hover.item.slice(2)) : -1;
  if (task < 0 || !head.runs) return;
  const lines = [text(tasks.fields[3 * task]), ...compared(task).map(([name, , time]) => `${name}: ${time}`)];
  const wide = Math.max(...lines.map((line) => context.measureText(line).width)) + 12, tall = 15 * lines.length + 6;
  const [left, top] = [Math.min(view.hover.x + 12, width - wide - 2), Math.min(view.hover.y + 12, height - tall - 2)];
  context.fillStyle = colour("--background");
  context.strokeStyle = colour("--muted");
  context.lineWidth = 1;
  context.fillRect(left, top, wide, tall);
  context.strokeRect(Math.round(left) + 0.5, Math.round(top) + 0.5, wide, tall);
  context.fillStyle = colour("--text");
  lines.forEach((line, at) => context.fillText(line, left + 6, top + 11 + 15 * at));
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
  for (let k = 1; k < path.length; k++) if (runOf[path[k - 1]] === runOf[path[k]]) arrow(path[k - 1], path[k], "--attention", false);
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
  target.fillText(head.runs ? "both" : "whole trace", 4, h / 2);
  running.forEach((_, run) => {
    const tall = (h - 4) / RUNS.length;
    if (tracks[run].most > 0) area(target, tracks[run], left, 2 + run * tall, pixels, tall, 0, LENGTH / pixels);
  });
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
