"use strict";
(() => {
  const stage = document.getElementById("stage");
  const tip = document.getElementById("tip");
  const svg = stage.querySelector("svg");
  const { names, grids } = JSON.parse(document.getElementById("data").textContent);
  const all = svg.viewBox.baseVal;
  const whole = { x: all.x, y: all.y, width: all.width, height: all.height };
  let view = { ...whole };
  const overlay = svg.appendChild(document.createElementNS(svg.namespaceURI, "g"));
  overlay.setAttribute("pointer-events", "none");

  // Which cells carry a link or a kin: [grid, cell] pairs by the name's number.
  const LINKS = 0, KIN = 1, SAID = 2;
  const carriers = [new Map(), new Map()];
  grids.forEach((grid, g) => grid.cells.forEach((cell, c) => {
    for (const kind of [LINKS, KIN]) {
      for (const name of cell[kind]) {
        if (!carriers[kind].has(name)) carriers[kind].set(name, []);
        carriers[kind].get(name).push([g, c]);
      }
    }
  }));

  function frame(g, c, kind, width) {
    const { x, y, wide, high, columns } = grids[g];
    const rect = document.createElementNS(svg.namespaceURI, "rect");
    rect.setAttribute("class", kind);
    rect.setAttribute("x", x + (c % columns) * wide);
    rect.setAttribute("y", y + Math.floor(c / columns) * high);
    rect.setAttribute("width", wide);
    rect.setAttribute("height", high);
    rect.setAttribute("stroke-width", width);
    overlay.appendChild(rect);
  }

  function carrying(kind, found) {
    const seen = new Map();
    for (const name of grids[found.g].cells[found.c][kind]) {
      for (const [g, c] of carriers[kind].get(name)) seen.set(g + ":" + c, [g, c]);
    }
    return [...seen.values()];
  }

  function mark(found) {
    overlay.replaceChildren();
    if (!found) return;
    for (const [g, c] of carrying(KIN, found)) frame(g, c, "kin", 1);
    const linked = carrying(LINKS, found);
    linked.push([found.g, found.c]);
    for (const [g, c] of linked) frame(g, c, "halo", 6);
    for (const [g, c] of linked) frame(g, c, "link", 3);
  }

  function cellAt(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    for (let g = 0; g < grids.length; g++) {
      const { x, y, wide, high, rows, columns } = grids[g];
      const column = Math.floor((at.x - x) / wide), row = Math.floor((at.y - y) / high);
      if (row >= 0 && row < rows && column >= 0 && column < columns) return { g, c: row * columns + column };
    }
    return null;
  }

  function say(found, event) {
    const said = found ? grids[found.g].cells[found.c][SAID].map((line) => names[line]).join("\n") : "";
    tip.textContent = said;
    tip.style.display = said ? "block" : "none";
    if (!said) return;
    const left = Math.min(event.clientX + 16, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18 + tip.offsetHeight > innerHeight;
    tip.style.left = Math.max(left, 0) + "px";
    tip.style.top = Math.max(0, below ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
  }

  function show() {
    svg.setAttribute("viewBox", [view.x, view.y, view.width, view.height].join(" "));
  }

  function zoom(event, factor) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const width = Math.min(whole.width * 4, Math.max(40, view.width * factor));
    const scale = width / view.width;
    view = {
      x: at.x - (at.x - view.x) * scale, y: at.y - (at.y - view.y) * scale,
      width, height: view.height * scale,
    };
    show();
  }

  let kept = false, start = null, moved = false;
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event, Math.exp(event.deltaY * 0.0015));
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => {
    start = { x: event.clientX, y: event.clientY, view: { ...view }, scale: svg.getScreenCTM().a };
    moved = false;
  });
  stage.addEventListener("pointermove", (event) => {
    if (start && event.buttons) {
      const dx = event.clientX - start.x, dy = event.clientY - start.y;
      moved = moved || Math.hypot(dx, dy) > 4;
      if (moved) {
        stage.classList.add("moving");
        view = { ...start.view, x: start.view.x - dx / start.scale, y: start.view.y - dy / start.scale };
        show();
      }
      return;
    }
    const found = cellAt(event);
    if (!kept) mark(found);
    say(found, event);
  });
  stage.addEventListener("pointerup", (event) => {
    if (start && !moved) {
      const found = cellAt(event);
      kept = Boolean(found);
      mark(found);
    }
    start = null;
    stage.classList.remove("moving");
  });
  stage.addEventListener("pointerleave", (event) => {
    if (!kept) mark(null);
    say(null, event);
  });
  stage.addEventListener("dblclick", () => { view = { ...whole }; show(); });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") { kept = false; mark(null); }
  });
})();
