// What all pages of a Lapwing report share: side files, the address, dark and light.
// Everything comes from files beside the page, so that it works from file:// and offline.
(function () {
  "use strict";

  // --- Side files. A page cannot fetch from file://, so data are scripts that register themselves:
  // entries by name in a JSON object, compressed (`show/report/data_pack.rs` writes them).

  const files = new Map();

  function awaitedFile(name) {
    if (!files.has(name)) {
      const entry = {};
      entry.promise = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
      files.set(name, entry);
    }
    return files.get(name);
  }

  async function unzipped(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  function register(name, content) {
    awaitedFile(name).resolve(unzipped(content));
  }

  const root = document.body.classList.contains("inner") ? "../" : "";

  // An entry is in the file named like its beginning, or in the one after the `@`.
  async function load(wanted) {
    const [name, file = name.split(".")[0]] = wanted.split("@");
    if (!files.has(file)) {
      const script = document.createElement("script");
      script.src = `${root}data/${file}.js`;
      script.onerror = () => {
        const { reject } = files.get(file);
        files.delete(file);
        reject(new Error(`${script.src} is missing: copy the whole folder of the report`));
      };
      awaitedFile(file);
      document.head.append(script);
    }
    return (await files.get(file).promise)[name];
  }

  // --- Small helpers.

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== undefined && child !== null && child !== ""));
    return made;
  }

  const space = "http://www.w3.org/2000/svg";

  function drawing(name, attributes, ...children) {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // What stands between backticks is code.
  function marked(text) {
    return text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));
  }

  function save(name, type, parts) {
    const link = element("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function csvCell(value) {
    if (value === null || value === undefined) return "";
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const csvLine = (cells) => cells.map(csvCell).join(",") + "\n";

  // --- Packed texts and columns (`show/packed.rs` writes them).

  // Each text says how many characters it shares with the one before, at its beginning and its end.
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

  // A column of a table is a list, packed texts, one value for all, or a list of places among others.
  function column(form) {
    if (Array.isArray(form)) return form;
    if ("all" in form) return new Array(form.count).fill(form.all);
    if ("of" in form) {
      const texts = unpacked(form.of);
      return form.at.map((at) => texts[at]);
    }
    if ("rows" in form) {
      const [rows, sizes] = [tableRows(form.rows), column(form.sizes)];
      let at = 0;
      return sizes.map((size) => (size === null ? null : rows.slice(at, (at += size))));
    }
    return unpacked(form);
  }

  // The rows of a table.
  function tableRows({ table, count }) {
    const columns = Object.entries(table).map(([name, form]) => [name, column(form)]);
    return Array.from({ length: count }, (_, at) => Object.fromEntries(columns.map(([name, list]) => [name, list[at]])));
  }

  function fromColumns(columns) {
    const names = Object.keys(columns);
    const lists = names.map((name) => column(columns[name]));
    return Array.from({ length: lists[0]?.length ?? 0 }, (_, at) => Object.fromEntries(names.map((name, of) => [name, lists[of][at]])));
  }

  // The address's hash holds what the page shows, so that a link shows the same to others.
  function readHash() {
    return new URLSearchParams(location.hash.slice(1));
  }

  function writeHash(values) {
    const hash = new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();
    if (hash !== location.hash.slice(1)) {
      history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    }
  }

  // A command is copied by a click.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.('[data-action="copy"]');
    if (!button) return;
    const { text } = button.dataset;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // From file:// some browsers refuse: then the text is selected at least.
      const field = element("textarea", { class: "unseen" });
      field.value = text;
      button.after(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    const words = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 1500);
  });

  // --- Dark or light: by preference, until somebody chooses.

  const palettes = {
    light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f6670"],
    dark: ["#56b4e9", "#e69f00", "#2fbf97", "#dd94bb", "#f0e442", "#ef7d32", "#a3abb5"],
  };

  let printing = false;

  function isDark() {
    // Paper is white.
    if (printing) return false;
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function colour(number) {
    const colours = palettes[isDark() ? "dark" : "light"];
    return colours[number % colours.length];
  }

  function paintDots() {
    for (const dot of document.querySelectorAll("[data-colour]")) {
      const value = colour(Number(dot.dataset.colour));
      if (dot.tagName === "path") dot.style.stroke = value;
      else dot.style.background = value;
    }
  }

  // The theme follows the system until one is chosen: first the other one, so that a click is seen.
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const themes = ["automatic", ...(systemIsDark ? ["light", "dark"] : ["dark", "light"])];
  const themeNow = () => document.documentElement.dataset.theme ?? themes[0];

  function sayTheme(themeButton) {
    themeButton.textContent = `Theme: ${themeNow()}`;
    themeButton.title = `Click for: ${themes[(themes.indexOf(themeNow()) + 1) % themes.length]}`;
  }

  function changeTheme({ currentTarget: themeButton }) {
    const theme = themes[(themes.indexOf(themeNow()) + 1) % themes.length];
    if (theme === themes[0]) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    sayTheme(themeButton);
    try {
      if (theme === themes[0]) localStorage.removeItem("lapwing-theme");
      else localStorage.setItem("lapwing-theme", theme);
    } catch {
      // Some browsers remember nothing for file://; the choice then lasts for this page.
    }
    document.dispatchEvent(new Event("lapwing-theme"));
  }
  document.addEventListener("lapwing-theme", paintDots);
  for (const [event, begins] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(event, () => {
      printing = begins;
      paintDots();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintDots);

  // Makes what is on the page work.
  function begin() {
    window.lapwing.settings = JSON.parse(document.getElementById("settings").textContent);
    // On narrow screens the fields of a form besides the search are folded.
    document.querySelector('[data-action="fields"]')?.addEventListener("click", ({ currentTarget: button }) => {
      button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
    });
    // On narrow screens the names of the pages are wider than the screen.
    const current = document.querySelector('.pages [aria-current]');
    if (current) current.parentElement.scrollLeft = current.offsetLeft - 40;
    const themeButton = document.querySelector('[data-action="theme"]');
    sayTheme(themeButton);
    themeButton.addEventListener("click", changeTheme);
  }

  // Shows a page whose content is in a file of data, and then runs its scripts in their order.
  async function showContent(entry) {
    try {
      document.body.insertAdjacentHTML("afterbegin", await load(entry));
    } catch (error) {
      document.body.prepend(element("p", { class: "attention" }, error.message));
      return;
    }
    begin();
    for (const inert of [...document.querySelectorAll("body > script[src]:not([data-entry] ~ *, [data-entry])")]) {
      const script = element("script", { src: inert.getAttribute("src") });
      script.async = false;
      inert.replaceWith(script);
    }
    // A part of the page that the address names was not there yet.
    if (/^#[\w-]+$/.test(location.hash)) document.querySelector(location.hash)?.scrollIntoView();
  }

  window.lapwing = {
    register, load, element, drawing, marked, save, csvLine, unpacked, column, tableRows, fromColumns, readHash, writeHash, colour, paintDots,
  };
  const entry = document.getElementById("content")?.dataset.entry;
  if (entry) showContent(entry);
  else begin();
})();
