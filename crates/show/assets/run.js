// What is known of a run besides its numbers: what differs from the run before, how it went, where its files are.
(function () {
  "use strict";

  const { settings, load, tableRows, element } = window.lapwing;
  const perFile = 50;

  const table = (label, heads, rows) =>
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) =>
        element("td", { class: typeof cell === "string" && cell.length > 40 ? "long" : undefined }, cell)))))));

  // Only what is an address on the web can be followed; a path is told, since it may be another machine's.
  function placeOf(text) {
    // A page on disk may lead to files beside it; one on a server may not.
    if (location.protocol === "file:" && text.startsWith("/")) return element("a", { href: `file://${text.split("/").map(encodeURIComponent).join("/")}` }, text);
    return /^https?:\/\//i.test(text) ? element("a", { href: text, rel: "noopener noreferrer", target: "_blank" }, text) : element("code", {}, text);
  }

  async function runAt(position) {
    return tableRows(await load(settings.runs[Math.floor(position / perFile)]))[position % perFile];
  }

  async function observations(run) {
    const { observed, runs } = await load(`environments-${run.environment}`);
    return new Map([...(runs[run.id] ?? []).map((at) => observed[at]), ...run.observed]);
  }

  const short = (text) => (/^[0-9a-f]{40}$/.test(text) ? text.slice(0, 10) : text);

  function differences(before, now) {
    const keys = [...new Set([...before.keys(), ...now.keys()])];
    return keys.filter((key) => before.get(key) !== now.get(key)).map((key) => [key, before.get(key), now.get(key)]);
  }

  // The page of a commit, or the difference between two, on the web; or only its name.
  function commitPart(to, from) {
    const name = element("code", {}, from ? `${short(from)}..${short(to)}` : short(to));
    const isHash = (text) => /^[0-9a-f]{7,64}$/i.test(text);
    if (!settings.commits || !isHash(to) || (from && !isHash(from))) return name;
    const address = from ? settings.commits.difference.replace("{from}", from) : settings.commits.commit;
    return element("a", { href: address.replace("{to}", to), rel: "noopener noreferrer", target: "_blank" }, name);
  }

  function changePart(run, runBefore, before, now) {
    if (!runBefore) return [element("p", {}, "The first run of this variant, so there is no run before to compare it with.")];
    const found = differences(before, now);
    const commit = found.find(([key, from, to]) => key === "commit" && from && to);
    const parts = [];
    const { changed } = run;
    if (typeof changed === "string") parts.push(element("p", { class: "attention" }, `The benchmark itself changed${changed} since the run of ${runBefore.label}: the two are not compared.`));
    if (commit) parts.push(element("p", {}, "Commits: ", commitPart(commit[2], commit[1])));
    parts.push(found.length
      ? table("What differs", ["observed", runBefore.label, "this run"], found.map(([key, from, to]) =>
        [key, ...[from, to].map((text) => (key === "commit" && text ? commitPart(text) : short(text ?? "–")))]))
      : element("p", {}, `${typeof changed === "string" ? "Besides, nothing" : "Nothing"} that was observed differs from the run of ${runBefore.label}.`));
    return parts;
  }

  // What each instance came to stands above; here stands what did not end well.
  function instancePart(run) {
    const odd = run.instances.filter((it) => it.iterations || it.outcome !== "ok");
    const skipped = odd.length === run.instances.length && odd.every((it) => it.outcome === "skipped");
    const began = run.instances.map((it) => it.started).filter(Boolean).sort();
    const all = run.instances.length === 1 ? "1 instance" : `${run.instances.length.toLocaleString("en")} instances`;
    const when = began.length ? `, the first of which began at ${began[0].slice(0, 19).replace("T", " ")}` : "";
    const parts = [element("p", {}, `${all}${run.instances.length === 1 ? when.replace("the first of which", "which") : when}. ${odd.length ? "" : "No failures."}${skipped ? (odd.length === 1 ? "It was skipped." : "All were skipped.") : ""}`)];
    if (odd.length && !skipped) {
      parts.push(table("Incomplete or failed instances", ["instance", "host", "ended", "iterations"], odd.map((it) => [
        it.id, it.host ?? "", it.outcome ? it.outcome.replaceAll("_", " ") : "no end: under way, or its writer died",
        (it.iterations ?? []).map(([outcome, number]) => `${number} ${outcome.replaceAll("_", " ")}`).join(", "),
      ])));
    }
    if (run.more) parts.push(element("p", { class: "hint" }, `and ${run.more.toLocaleString("en")} more instances.`));
    for (const it of run.instances) {
      for (const message of it.messages ?? []) {
        parts.push(element("details", {}, element("summary", {}, `Instance ${it.id}: ${message.trim().split("\n").at(-1).slice(0, 90)}`), element("pre", { tabindex: 0 }, message)));
      }
    }
    return parts;
  }

  function artifactPart(run) {
    const all = [...(run.artifacts ?? []).map((it) => ["", ...it]), ...run.instances.flatMap((it) => (it.artifacts ?? []).map((pair) => [it.id, ...pair]))];
    const several = run.instances.length > 1;
    if (!all.length) return [];
    return [element("h3", {}, "Links and files"),
      element("ul", { class: "artifacts" }, ...all.map(([instance, name, place]) =>
        element("li", {}, `${name.replaceAll("_", " ")}${several && instance ? ` (${instance})` : ""}: `, placeOf(place))))];
  }

  function folded(title, pairs) {
    if (!pairs.length) return [];
    return [element("details", {}, element("summary", {}, title), table(title, ["observed", "value"], pairs.map(([key, text]) => [key, /^https?:\/\//i.test(text) ? placeOf(text) : text])))];
  }

  // Returns what to show of the run at a position of the list of runs, newest first.
  async function details(position) {
    const run = await runAt(position);
    const runBefore = run.before !== null && run.before !== undefined && await runAt(run.before);
    const now = await observations(run);
    const before = runBefore ? await observations(runBefore) : new Map();
    const attributes = [...(run.attributes ?? []), ...run.instances.flatMap((it) => (it.attributes ?? []).map(([key, text]) => [run.instances.length > 1 ? `${it.id} ${key}` : key, text]))];
    return [
      element("h3", {}, "What differs from the run before"), ...changePart(run, runBefore, before, now),
      element("h3", {}, "How it went"), ...instancePart(run),
      ...artifactPart(run),
      ...folded("All observations", [...now]),
      ...folded("Other attributes", attributes),
    ];
  }

  Object.assign(window.lapwing, { runDetails: details });
})();
