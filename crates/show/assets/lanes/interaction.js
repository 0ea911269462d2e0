// What a visitor points at, chooses, searches and sums up.

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
  details.append(cell("h2", text(name)), cell("p", about), ...(lane.kind === 1 && head.runs ? ofOtherRun(item) : []), table);
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

// For each run that has a task of this name its name, start, time on the worker and worker; then their difference.
function compared(task) {
  const other = like(task), order = (runOf[task] ? [other, task] : [task, other]).filter((it) => it >= 0);
  const busy = (it) => {
    const [start, end] = [event.started(it), released(it)];
    return start === MISSING || end === MISSING ? NaN : (end - start) * head.unit;
  };
  const signed = (time) => `${time < 0 ? "−" : "+"}${seconds(Math.abs(time))}`;
  const shown = (time, write) => (Number.isNaN(time) ? "–" : write(time));
  const begin = (it) => (event.started(it) === MISSING ? NaN : event.started(it) - ZERO);
  const found = order.map((it) => [RUNS[runOf[it]], shown(begin(it), (time) => since(time + ZERO, 1e3 / head.unit)), shown(busy(it), seconds), text(tasks.fields[3 * it + 2])]);
  if (order.length < 2) return found;
  const [one, two] = order;
  return [...found, ["difference", shown((begin(two) - begin(one)) * head.unit, signed), shown(busy(two) - busy(one), signed), ""]];
}
// A table of a task in both runs, and a button that goes to its like.
function ofOtherRun(task) {
  const found = compared(task), other = like(task), table = rows(found), top = document.createElement("tr");
  top.append(...["run", "starts at", "takes", "on"].map((name) => cell("th", name)));
  table.createTHead().append(top);
  if (other < 0) return [cell("p", `${RUNS[1 - runOf[task]]} has no task of this name`)];
  const link = cell("button", `Show in ${RUNS[runOf[other]]}`);
  link.id = "counterpart";
  link.addEventListener("click", () => goTo(`1:${other}`));
  return [cell("h3", "In both runs"), table, link];
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
function sumsWithin(from, to, run = 0) {
  const found = { tasks: 0, phases: new Map(), classes: new Map(), waits: new Float64Array(REASONS) };
  const add = (map, key, time) => map.set(key, (map.get(key) || 0) + time);
  for (const lane of lanes) {
    if (lane.kind !== 1 || (lane.run || 0) !== run) continue;
    for (let k = firstEndingAfter(lane, from); k < lane.count && lane.starts[k] < to; k++) {
      add(found.phases, lane.kinds[k], Math.min(to, lane.ends[k]) - Math.max(from, lane.starts[k]));
    }
  }
  for (let task = 0; task < head.tasks; task++) {
    if (runOf[task] !== run) continue;
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
  $("sums").replaceChildren(cell("h2", view.selected ? "Selected range" : "Shown range"));
  RUNS.forEach((name, run) => sumUpRun(name, run, from, to));
}
function sumUpRun(name, run, from, to) {
  const found = sumsWithin(from, to, run), box = $("sums");
  if (head.runs) box.append(cell("h2", name));
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
  if (!before) hover(event);
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
function hover(event) {
  const found = event && head.runs && pieceAt(event), before = view.hover;
  view.hover = found ? { item: identity(found[0], found[0].items[found[1]]), x: event.offsetX, y: event.offsetY } : null;
  if (before || view.hover) ask();
}
canvas.addEventListener("pointerleave", () => hover(null));
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
document.addEventListener("lapwing-theme", ask);

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
    for (const other of $("paths").querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", other === button && view.path === path);
    $("found").textContent = view.path ? path.text : "";
    resize();
  });
  $("paths").append(button);
}
if (head.runs && head.runs.first.length > 0) {
  const button = cell("button", "First divergence");
  button.id = "divergence";
  button.addEventListener("click", () => goTo(`1:${head.runs.first[0]}`));
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
  hovered: () => view.hover && [...both(view.hover.item)].map((item) => text(tasks.fields[3 * Number(item.slice(2))])),
  rowOf: (wanted, run) => lanes.findIndex((lane) => lane.name === wanted && lane.run === run),
  divergence: () => (head.divergence === undefined ? null : (head.divergence - ZERO) * head.unit),
  sums(run = 0) {
    const found = sumsWithin(...(view.selected || [view.from, view.to]), run), unit = (time) => time * head.unit;
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
