// The timeline, in three parts that are one async function on the page: what is drawn, drawing, and what a visitor does.
//
// This part unpacks the data. Every lane is a list of pieces that do not overlap. A frame is made pixel by pixel: a pixel
// shows the mean colour of what happened in its time, so that nothing is lost however far one zooms out. For that each
// long lane has levels: the shares of each kind in 2, 4, 8… equal parts of the whole time.

const $ = (id) => document.getElementById(id);

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
// Of two runs, the second one's tasks follow the first one's; `like` has the task of the same name in the other run, or -1.
const RUNS = head.runs ? head.runs.names : [""];
const runOf = Uint8Array.from({ length: head.tasks }, () => 0);
lanes.forEach((lane) => { if (lane.kind === 1 && lane.run) for (const item of lane.items) runOf[item] = 1; });
const like = (task) => (head.runs ? head.runs.like[task] : -1);
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
const running = RUNS.map(intervals), computing = intervals(), copying = intervals();
for (let k = 0; k < head.tasks; k++) {
  const from = event.started(k), to = released(k);
  if (from === MISSING || to === MISSING) continue;
  put(running[runOf[k]], from, to);
  const begin = known(event.loaded(k), () => from), end = known(event.computed(k), () => to);
  if (tasks.cpu[k] >= 0) put(computing, begin, end, Math.min(1, tasks.cpu[k] / (end - begin)));
}
for (const lane of lanes) {
  for (let k = 0; lane.kind === 2 && k < lane.count; k++) if (lane.kinds[k] === 7) put(copying, lane.starts[k], lane.ends[k]);
}
const what = head.calls ? "running calls" : "running tasks";
const tracks = running.map((of, run) => counter(head.runs ? `${RUNS[run]}: running` : what, of.starts, of.ends));
// Cores, copies and pressure are those of one run.
if (!head.runs) tracks.push(counter("cores in use", computing.starts, computing.ends, computing.weights), counter("copies", copying.starts, copying.ends));
// Of several hosts, the sum.
if (!head.runs) head.resources.forEach((name, resource) => {
  const of = intervals();
  for (const [it, from, to, share] of head.pressures) if (it === resource && share > 0) put(of, Math.max(0, from), to, share);
  tracks.push({ ...counter(name, of.starts, of.ends, of.weights), isShare: true });
});
const shown = tracks.filter((track) => track.most > 0);
