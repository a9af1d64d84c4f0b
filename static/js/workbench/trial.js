// Having the system tried: asked for once by an id that outlives retries; the report comes by the feed, as `ask --trial` shows it.
"use strict";
(() => {
  const W = window.Workbench;
  const byId = (id) => document.getElementById(id);
  const dialog = byId("wb-trial");
  const go = byId("wb-trial-go");
  const line = byId("wb-trial-state");
  const unsaved = byId("wb-trial-unsaved");
  const NONE_LEFT = "The customer has run your system as often as they can; there is no trial left.";
  const OVER = "The trial of your system is over: its report is under “Try it”.";
  const STEPS = { taken: "Copying system/", copy: "Deploying the copy", start: "Starting", replay: "Running" };
  const trials = new Map(); // by id: the newest form of each
  const SEEN = `trials-seen.${W.boot.run}`; // by id: reports that were read, or whose notice was dismissed, here or in another tab
  let asked = null; // the id of a request that no answer came to yet
  let timer = 0;

  const isRunning = () => [...trials.values()].some((trial) => trial.running);

  function seen(ids) { W.remember(SEEN, [...new Set([...W.recall(SEEN, []), ...ids])]); }
  function seenAll() { seen([...trials.values()].filter((trial) => !trial.running).map((trial) => trial.id)); }

  function draw() {
    const reports = [...trials.values()].map((trial, at) => W.element("li", { class: "theirs" },
      W.element("span", { class: "meta", text: [`Trial ${at + 1}`, trial.sent].filter(Boolean).join(" · ") }),
      W.element("span", { class: "words", text: trial.running ? "Running…" : trial.said.join("\n") || trial.words })));
    byId("wb-trial-reports").replaceChildren(...reports);
  }

  function words(progress) {
    if (!progress || progress.step === "waiting") return "Waiting for its turn; what stands in system/ then is tried.";
    const done = progress.total ? `, ${progress.done} of ${progress.total}` : "";
    return `${STEPS[progress.step]}${done}. You may go on working: it runs on its copy.`;
  }

  async function look() {
    clearTimeout(timer);
    try {
      const found = await W.get(W.boot.urls.trial);
      const running = isRunning() || asked !== null;
      go.disabled = running || !found.left;
      line.textContent = running ? words(found.progress) : found.left ? "" : NONE_LEFT;
      if (running && dialog.open) timer = setTimeout(look, 2000);
    } catch (error) {
      line.textContent = error.message;
      if (dialog.open) timer = setTimeout(look, 4000);
    }
  }

  async function ask(id, tries = 0) {
    try {
      const { trial } = await W.post(W.boot.urls.trial, { id });
      asked = null;
      if (!trials.has(trial.id)) trials.set(trial.id, trial);
      draw();
      look();
    } catch (error) {
      if ((error.status === 0 || error.status >= 500) && tries < 30) {
        setTimeout(() => ask(id, tries + 1), W.backOff(Math.min(tries, 4)));
        return;
      }
      asked = null;
      await look();
      line.textContent = error.message;
    }
  }

  byId("wb-trial-open").addEventListener("click", () => {
    const paths = W.unsaved().filter((path) => path.startsWith("system/")); // nothing else is copied
    unsaved.hidden = !paths.length;
    unsaved.replaceChildren(W.element("b", { text: "Not saved" }), W.element("span", { text: `${paths.join(", ")}: what is in the editor is not on disk and would not be tried.` }));
    go.disabled = true;
    line.textContent = "";
    draw();
    seenAll();
    W.unsay(OVER);
    dialog.showModal();
    look();
  });
  go.addEventListener("click", () => {
    go.disabled = true;
    line.textContent = "Asking";
    asked = W.newId();
    ask(asked);
  });
  addEventListener("workbench:trial", (event) => {
    const { id, running } = event.detail;
    trials.set(id, event.detail);
    draw();
    if (dialog.open) { seenAll(); look(); }
    else if (!running && !W.recall(SEEN, []).includes(id)) W.say(OVER, { dismissed: seenAll });
  });
})();
