"use strict";
// Tables: a click on a heading sorts by it, a second one the other way round.
const key = (cell) => (cell.dataset.key ?? cell.textContent).trim();
const number = (text) => (text === "" ? NaN : Number(text.replace(/[%,\s]/g, "")));
const compare = (one, other) => {
  const [left, right] = [number(one), number(other)];
  if (Number.isNaN(left) && Number.isNaN(right)) return one.localeCompare(other, undefined, { numeric: true });
  return Number.isNaN(left) ? 1 : Number.isNaN(right) ? -1 : left - right;
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) =>
    head.querySelector("button")?.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => compare(key(a.cells[column]), key(b.cells[column])) * (falling ? -1 : 1));
      table.tBodies[0].append(...rows);
      for (const each of heads) if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    }),
  );
}
// Plays: a click on one shows its arrows on the board beside it.
for (const button of document.querySelectorAll("button.play")) {
  button.addEventListener("click", () => {
    const place = button.closest(".side-by-side");
    const before = place.querySelector('button.play[aria-pressed="true"]').textContent;
    for (const each of place.querySelectorAll("button.play")) each.setAttribute("aria-pressed", String(each === button));
    for (const arrows of place.querySelectorAll(".nb-play")) {
      if (arrows.dataset.play === button.dataset.play) arrows.removeAttribute("display");
      else arrows.setAttribute("display", "none");
    }
    const words = place.querySelector("svg desc");
    const at = words.textContent.lastIndexOf(before); // the last sentence names the play that the arrows show
    const [start, end] = [words.textContent.slice(0, at), words.textContent.slice(at + before.length)];
    if (at >= 0) words.textContent = start + button.textContent + end;
  });
}
// Decisions: which are listed, in what order, and links to them.
const form = document.querySelector("form.controls");
if (form) {
  const list = document.getElementById("list");
  const all = [...list.children];
  const plural = new Intl.PluralRules(document.documentElement.lang);
  const update = () => {
    const { least, order, ...wanted } = Object.fromEntries(new FormData(form));
    let count = 0;
    for (const one of all) {
      const { rank, counts } = one.dataset;
      const marked = least === "all" || (counts === "yes" && (least === "counts" || Number(rank) >= Number(least)));
      one.hidden = !(marked && Object.entries(wanted).every(([name, value]) => value === "" || value === one.dataset[name]));
      count += !one.hidden;
    }
    const worth = (one) => (order === "order" ? Number(one.dataset.order) : -Number(one.dataset[order]));
    list.append(...[...all].sort((a, b) => worth(a) - worth(b)));
    const { one, few, many } = form.elements.count.dataset;
    const texts = { one, few, many, other: many };
    form.elements.count.value = texts[plural.select(count)].replace(/\d+/, count);
  };
  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  const openAll = (open) => all.forEach((one) => (one.open = open && !one.hidden));
  form.elements.open.addEventListener("click", () => openAll(true));
  form.elements.close.addEventListener("click", () => openAll(false));
  const follow = (hash) => {
    const one = document.getElementById(hash.slice(1));
    if (!all.includes(one)) return;
    one.hidden = false;
    one.open = true;
    one.querySelector("summary").focus();
    one.scrollIntoView();
  };
  document.addEventListener("click", (event) => follow(event.target.closest("a")?.hash ?? ""));
  update();
  follow(location.hash);
}
