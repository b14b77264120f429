// Under a pointer a text of a map is shown at once, and marked in every map of the page.
(() => {
  const said = document.querySelector(".pointed");
  document.addEventListener("pointerover", (event) => {
    const point = event.target.closest(".point");
    if (!point) { return; }
    for (const one of document.querySelectorAll(".point.is-here")) { one.classList.remove("is-here"); }
    for (const one of document.querySelectorAll(`.point[data-n="${point.dataset.n}"]`)) {
      one.classList.add("is-here");
      one.parentNode.append(one);
    }
    said.textContent = point.querySelector("title").textContent;
  });
})();
