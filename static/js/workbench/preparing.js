// Ask every second whether the workspace is ready, then open it. Without this file the link on the page does the same.
"use strict";
(() => {
  const line = document.getElementById("wb-preparing");
  if (!line) return;
  const look = async () => {
    try {
      const answer = await fetch(line.dataset.stateUrl, { headers: { Accept: "application/json" } });
      const { state, reason } = await answer.json();
      if (state && state !== "preparing") return location.reload();
      if (reason) line.textContent = reason;
    } catch {
      /* the network is away for a moment: ask again */
    }
    setTimeout(look, 1000);
  };
  setTimeout(look, 700);
})();
