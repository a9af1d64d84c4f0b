// Panes: width, folding, one at a time on small screens, moving between them by keyboard, tab lists, dialogs, clocks.
"use strict";
(() => {
  const W = window.Workbench;
  const panes = document.getElementById("wb-panes");
  const order = [...panes.querySelectorAll(".wb-pane")];
  const layout = { left: 320, right: 340, folded: {}, ...W.recall("layout", {}) };
  const LEAST = 200;

  function apply() {
    for (const side of ["left", "right"]) {
      const folded = Boolean(layout.folded[side]);
      panes.style.setProperty(`--${side}`, folded ? "2.25rem" : `${layout[side]}px`);
      panes.querySelector(`.wb-${side}`).classList.toggle("folded", folded);
      panes.querySelector(`[data-fold="${side}"]`).setAttribute("aria-expanded", String(!folded));
    }
    dispatchEvent(new Event("workbench:resized"));
  }
  function keep() { W.remember("layout", layout); apply(); }

  function widen(side, width) {
    layout[side] = Math.max(LEAST, Math.min(width, innerWidth * 0.45));
    layout.folded[side] = false;
    apply();
  }
  for (const split of panes.querySelectorAll(".wb-split")) {
    const side = split.dataset.split;
    split.addEventListener("pointerdown", (down) => {
      split.setPointerCapture(down.pointerId);
      const move = (event) => widen(side, side === "left" ? event.clientX : innerWidth - event.clientX);
      split.addEventListener("pointermove", move);
      split.addEventListener("lostpointercapture", () => { split.removeEventListener("pointermove", move); keep(); }, { once: true });
    });
    split.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
      if (!step || event.ctrlKey) return;
      event.preventDefault();
      widen(side, layout[side] + (side === "left" ? step : -step));
      keep();
    });
  }
  for (const button of panes.querySelectorAll("[data-fold]")) {
    button.addEventListener("click", () => { layout.folded[button.dataset.fold] = !layout.folded[button.dataset.fold]; keep(); });
  }

  // Small screens: one pane, chosen in the bottom bar.
  const bottom = document.querySelector(".wb-bottom");
  function show(name) {
    panes.dataset.shown = name;
    for (const button of bottom.querySelectorAll("button")) button.toggleAttribute("aria-current", button.dataset.show === name);
    dispatchEvent(new Event("workbench:resized"));
  }
  bottom.addEventListener("click", (event) => { const button = event.target.closest("button"); if (button) show(button.dataset.show); });
  show("terminal");

  // Tab lists follow the usual keyboard pattern: one stop, arrows move.
  function select(tab) {
    const list = tab.closest("[role=tablist]");
    for (const other of list.querySelectorAll("[role=tab]")) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    dispatchEvent(new CustomEvent("workbench:tab", { detail: tab.id }));
  }
  document.addEventListener("click", (event) => { const tab = event.target.closest("[role=tab]"); if (tab) select(tab); });
  document.addEventListener("keydown", (event) => {
    const tab = event.target.closest?.("[role=tab]");
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!tab || !step || event.ctrlKey) return;
    const tabs = [...tab.closest("[role=tablist]").querySelectorAll("[role=tab]")];
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    select(next);
    next.focus();
  });

  // Ctrl+Shift+arrows move between panes, also out of the terminal: Tab belongs to the shell.
  function movePane(step) {
    const here = order.findIndex((pane) => pane.contains(document.activeElement));
    const next = order[(Math.max(here, 0) + step + order.length) % order.length];
    show(next.dataset.pane);
    if (layout.folded.left && next.classList.contains("wb-left")) { layout.folded.left = false; keep(); }
    if (layout.folded.right && next.classList.contains("wb-right")) { layout.folded.right = false; keep(); }
    const target = next.querySelector(".wb-stage > :not([hidden]) textarea, .wb-stage > :not([hidden]) .cm-content") || next.querySelector("[role=tab][aria-selected=true]");
    target?.focus();
  }
  const isPaneKey = (event) => event.ctrlKey && event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight");
  document.addEventListener("keydown", (event) => {
    if (!isPaneKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
    movePane(event.key === "ArrowLeft" ? -1 : 1);
  }, true);

  for (const [opener, dialog] of [["wb-help-open", "wb-help"]]) {
    document.getElementById(opener).addEventListener("click", () => document.getElementById(dialog).showModal());
  }
  for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());

  // My time, from the server's record of the moment when the workspace was open.
  const elapsed = document.getElementById("wb-elapsed");
  const begun = Date.parse(W.boot.openedAt);
  function tick() {
    const minutes = Math.max(0, Math.floor((Date.now() - begun) / 60000));
    elapsed.textContent = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
  }
  tick();
  setInterval(tick, 10000);

  addEventListener("resize", () => dispatchEvent(new Event("workbench:resized")));
  apply();
  Object.assign(W, { select, show, isPaneKey });
})();
