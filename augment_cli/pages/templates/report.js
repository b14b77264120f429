(() => {
  const items = [...document.querySelectorAll("li[data-row]")];
  const key = `augment-cli ${document.body.dataset.corpus}`;
  const judged = kept(key);
  const stageOf = (item) => item.closest("section.stage");
  const nameOf = (item) => {
    const { stage, fingerprint } = stageOf(item).dataset;
    return JSON.stringify([stage, fingerprint, Number(item.dataset.row)]);
  };
  // What made a stage, where this page still shows it.
  const madeBy = (stage, fingerprint) => {
    const section = [...document.querySelectorAll("section.stage")]
      .find(({ dataset }) => dataset.stage === stage && dataset.fingerprint === fingerprint);
    return section ? { augmentation: section.dataset.augmentation, version: Number(section.dataset.version) } : {};
  };
  // Wilson's interval of a share at 95 %.
  const wilson = (count, total) => {
    const z = 1.96, share = count / total, over = 1 + z * z / total;
    const middle = (share + z * z / (2 * total)) / over;
    const reach = z / over * Math.sqrt(share * (1 - share) / total + z * z / (4 * total * total));
    return [Math.max(0, middle - reach), Math.min(1, middle + reach)].map((end) => `${(100 * end).toFixed(0)} %`);
  };
  const show = () => {
    for (const item of items) {
      for (const button of item.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(judged[nameOf(item)] === button.value));
      }
    }
    for (const section of document.querySelectorAll("section.stage")) {
      const { stage, fingerprint } = section.dataset;
      const verdicts = Object.entries(judged)
        .filter(([name]) => { const [of, print] = JSON.parse(name); return of === stage && print === fingerprint; })
        .map(([, verdict]) => verdict);
      const good = verdicts.filter((verdict) => verdict === "good").length;
      const [low, high] = verdicts.length ? wilson(good, verdicts.length) : ["", ""];
      section.querySelector(".wilson").textContent = verdicts.length
        ? `You judged ${verdicts.length}: ${good} good (95 %: ${low} to ${high} of such rows).` : "";
    }
    const count = Object.keys(judged).length;
    document.getElementById("judged").textContent = count ? `${count} judged` : "";
  };
  const judge = (item, verdict) => {
    const name = nameOf(item);
    if (judged[name] === verdict) { delete judged[name]; } else { judged[name] = verdict; }
    keep(key, judged);
    show();
  };
  readByKeys(items, judge);
  document.getElementById("save").addEventListener("click", () => {
    const lines = Object.entries(judged).map(([name, verdict]) => {
      const [stage, fingerprint, row_id] = JSON.parse(name);
      return { stage, fingerprint, row_id, verdict, ...madeBy(stage, fingerprint) };
    });
    saveAs("judged.json", JSON.stringify({ corpus: document.body.dataset.corpus, judgements: lines }, null, 1));
  });
  show();
})();
