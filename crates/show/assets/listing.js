// A table of many rows from a side file: search, filters and order, all kept in the address.
(function () {
  "use strict";

  const { settings, load, element, fromColumns, readHash, writeHash } = window.lapwing;
  const chunk = 150;

  // Every page says: `text` of a row to search in, `keys` to sort by, `filters` by the name of
  // their field, `row` that makes an element, and perhaps `shown`, called when other rows are shown, and `fold`:
  // a filter and its value whose rows are folded until asked for, and what the page calls them; `together` may join rows.
  function listing({ text, keys, filters, row: tableRow, shown: whenShown, fold, together = (rows) => rows }) {
    const table = document.querySelector("table.listing");
    if (!table) return;
    const form = document.getElementById("filters");
    const body = table.tBodies[0];
    const more = document.getElementById("more");
    let rows = [];
    let shown = [];
    let drawn = 0;
    let unfolded = !fold;
    let sort = { by: "", descending: false };

    // Where there is a file for each metric, the metric chooses the file; elsewhere it is a filter.
    const metricOf = () =>
      settings.metrics?.find(({ name }) => name === form.elements.metric?.value) ?? settings.metrics?.[0];

    function compare(a, b) {
      const key = keys[sort.by];
      const [x, y] = [key(a), key(b)];
      // What has no value stands last, whichever way the others are sorted.
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
      return sort.descending ? -order : order;
    }

    function choose() {
      const wanted = Object.fromEntries(new FormData(form));
      const words = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
      shown = rows.filter((row) =>
        words.every((word) => row.key.includes(word)) &&
        Object.entries(filters).every(([name, test]) => !wanted[name] || test(row, wanted[name])));
      const foldable = (row) => !unfolded && !wanted.q && !wanted[fold.field] && filters[fold.field](row, fold.value);
      const open = shown.filter((row) => !foldable(row));
      // Where there is nothing else, folding would leave an empty table.
      const folded = open.length ? shown.length - open.length : 0;
      if (folded) shown = open;
      offerFolded(folded);
      sayFilters(wanted);
      if (sort.by) shown.sort(compare);
      for (const header of table.tHead.querySelectorAll("[data-sort]")) {
        const active = header.dataset.sort === sort.by;
        if (active) header.setAttribute("aria-sort", sort.descending ? "descending" : "ascending");
        else header.removeAttribute("aria-sort");
      }
      body.replaceChildren();
      drawn = 0;
      drawMore();
      const of = rows.length.toLocaleString("en") + (rows.length === 1 ? " row" : " rows");
      document.getElementById("shown").textContent = (shown.length === rows.length
        ? of
        : `${shown.length.toLocaleString("en")} of ${of}` + (shown.length ? "" : ": nothing fits; clear a filter")) +
        (folded ? `, ${folded.toLocaleString("en")} ${fold.text} folded` : "");
      whenShown?.(shown, metricOf());
    }

    function offerFolded(number) {
      document.getElementById("folded")?.remove();
      if (!number) return;
      more.after(element("p", { id: "folded" }, element("button", { type: "button", onclick: unfold }, `Show ${number.toLocaleString("en")} ${fold.text}`)));
    }

    function unfold() {
      unfolded = true;
      choose();
    }

    // The button that shows the fields where they are folded says how many are in use.
    function sayFilters(wanted) {
      const used = Object.entries(wanted).filter(([name, value]) => value && !["q", "view"].includes(name) && !(name === "metric" && value === settings.metrics?.[0].name)).length;
      form.querySelector('[data-action="fields"]').textContent = used ? `Filters (${used})` : "Filters";
    }

    function drawMore() {
      const part = document.createDocumentFragment();
      for (const row of shown.slice(drawn, drawn + chunk)) part.append(tableRow(row, metricOf()));
      body.append(part);
      drawn = Math.min(drawn + chunk, shown.length);
      more.hidden = drawn >= shown.length;
    }

    function keep() {
      const wanted = Object.fromEntries(new FormData(form));
      if (wanted.metric === settings.metrics?.[0].name) delete wanted.metric;
      if (sort.by) wanted.sort = (sort.descending ? "-" : "") + sort.by;
      writeHash(wanted);
    }

    // Another view of the page is drawn by a script of its own, from the same fields.
    function showView() {
      const field = form.elements.view;
      const chosen = field?.value || settings.view || "table";
      form.dataset.view = chosen;
      for (const part of document.querySelectorAll("[data-view]")) if (part !== form) part.hidden = part.dataset.view !== chosen;
      for (const button of form.querySelectorAll("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === (field?.value ?? "")));
      return chosen;
    }

    async function update() {
      const chosen = showView();
      const used = Object.entries(Object.fromEntries(new FormData(form))).filter(([name, value]) => value && name !== "view" && !(name === "metric" && value === settings.metrics?.[0].name));
      form.classList.toggle("used", used.length > 0);
      try {
        if (chosen !== "table") {
          await window.lapwing.views[chosen](Object.fromEntries(new FormData(form)));
          return;
        }
        rows = together(fromColumns(await load(metricOf()?.file ?? settings.file)));
        for (const row of rows) row.key = text(row).toLowerCase();
        choose();
      } catch (error) {
        document.getElementById("shown").textContent = error.message;
      }
    }

    function fromHash() {
      const wanted = readHash();
      for (const field of form.elements) {
        if (!field.name) continue;
        field.value = wanted.get(field.name) ?? "";
        // A select shows nothing at all for a value that it does not know.
        if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
      }
      const by = wanted.get("sort") ?? "";
      sort = { by: by.replace("-", "") in keys ? by.replace("-", "") : "", descending: by.startsWith("-") };
      update();
    }

    for (const button of form.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => {
        form.elements.view.value = button.dataset.show;
        keep();
        update();
      });
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { keep(); update(); });
    form.addEventListener("reset", () => { sort = { by: "", descending: false }; setTimeout(() => { keep(); update(); }); });
    table.tHead.addEventListener("click", (event) => {
      const by = event.target.closest("[data-sort]")?.dataset.sort;
      if (!by || !event.target.closest("button")) return;
      // Texts begin with a, numbers with the largest: that is what one looks for.
      const isText = rows.some((row) => typeof keys[by](row) === "string");
      sort = { by, descending: sort.by === by ? !sort.descending : !isText };
      keep();
      choose();
    });
    more.querySelector("button").addEventListener("click", drawMore);
    new IntersectionObserver((seen) => seen.some((it) => it.isIntersecting) && drawMore(), { rootMargin: "600px" }).observe(more);
    window.addEventListener("beforeprint", () => { if (!unfolded) unfold(); while (drawn < shown.length) drawMore(); });
    window.addEventListener("hashchange", fromHash);
    // The first side file stands after this script; it is there once the page is.
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", fromHash);
    else fromHash();
  }

  Object.assign(window.lapwing, { listing });
})();
