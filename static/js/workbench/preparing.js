// Ask every few seconds whether the workspace is ready, then open it. Without this file the link on the page does the same.
"use strict";
(() => {
  const line = document.getElementById("wb-preparing");
  if (!line) return;
  const own = document.getElementById("wb-own");
  const look = async () => {
    let pauseMs = 1000;
    try {
      const answer = await fetch(line.dataset.stateUrl, { headers: { Accept: "application/json" } });
      if (answer.status === 401) return location.reload(); // signed out elsewhere: the page leads to sign in and back
      const { state, waiting } = await answer.json();
      if (state && state !== "preparing") return location.reload();
      if (waiting) {
        // only what changed is said: a screen reader reads the line anew
        if (line.textContent !== waiting.words) line.textContent = waiting.words;
        own.hidden = waiting.why !== "own";
        pauseMs = waiting.why === "starting" ? 300 : Math.min(5000, 1000 + 100 * waiting.before); // far behind, it moves slowly
      }
    } catch {
      /* the network is away for a moment: ask again */
    }
    setTimeout(look, pauseMs);
  };
  setTimeout(look, 300);
})();
