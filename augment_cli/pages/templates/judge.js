(() => {
  const items = [...document.querySelectorAll("li[data-row]")];
  const { key, file } = document.body.dataset;
  const judged = kept(key), origin = document.getElementById("origin");
  const of = (item) => (judged[item.dataset.row] ||= { verdict: null, note: "" });
  const show = () => {
    let count = 0;
    for (const item of items) {
      const { verdict } = of(item);
      count += verdict !== null;
      for (const button of item.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(verdict === button.value));
      }
      item.querySelector(".origin").hidden = !(origin.checked && verdict !== null);
    }
    document.getElementById("judged").textContent = `${count} of ${items.length} judged`;
  };
  const judge = (item, verdict) => {
    of(item).verdict = of(item).verdict === verdict ? null : verdict;
    keep(key, judged);
    show();
  };
  for (const item of items) {
    const note = item.querySelector("input");
    note.value = of(item).note;
    note.addEventListener("input", () => { of(item).note = note.value; keep(key, judged); });
  }
  readByKeys(items, judge);
  origin.addEventListener("change", show);
  document.getElementById("save").addEventListener("click", () => {
    const lines = items.map((item) => JSON.stringify({ ...JSON.parse(item.dataset.line), ...of(item) }));
    saveAs(file, `${lines.join("\n")}\n`);
  });
  show();
})();
