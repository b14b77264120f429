"use strict";
// Goes through the rows of a page by keys: j next, k back, g, a and w judge, n writes a note where there is one.
const readByKeys = (items, judge) => {
  let place = -1;
  const move = (step) => {
    if (!items.length) { return; }
    place = Math.min(Math.max(place + step, 0), items.length - 1);
    items[place].focus();
    items[place].scrollIntoView({ block: "center" });
  };
  document.addEventListener("click", (event) => {
    const item = event.target.closest("li[data-row]");
    if (item && event.target.matches("button")) { place = items.indexOf(item); judge(item, event.target.value); }
  });
  document.addEventListener("focusin", (event) => {
    const item = event.target.closest("li[data-row]");
    if (item) { place = items.indexOf(item); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.target.matches("input[type=text]")) {
      if (event.key === "Escape" || event.key === "Enter") { event.target.closest("li").focus(); }
      return;
    }
    const verdict = { g: "good", a: "awkward", w: "wrong" }[event.key];
    if (event.key === "j") { move(1); } else if (event.key === "k") { move(-1); }
    else if (verdict && place >= 0) { judge(items[place], verdict); }
    else if (event.key === "n" && place >= 0) {
      const note = items[place].querySelector("input");
      if (note) { event.preventDefault(); note.focus(); }
    }
  });
};
// What a browser keeps of a page; one that keeps nothing has to save in time.
const kept = (key) => { try { return JSON.parse(localStorage.getItem(key)) || {}; } catch { return {}; } };
const keep = (key, value) => { try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* see above */ } };
const saveAs = (name, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};
