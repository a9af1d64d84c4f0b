// Submitting: show what would be frozen, then send it once. The server answers every further click with the same submission.
"use strict";
(() => {
  const W = window.Workbench;
  const dialog = document.getElementById("wb-submit");
  const survey = document.getElementById("wb-survey");
  const go = document.getElementById("wb-submit-go");
  const abandon = document.getElementById("wb-abandon");
  const failure = document.getElementById("wb-submit-problem");
  const KINDS = { added: "new", changed: "changed", removed: "removed" };

  function lines(change) {
    if (change.binary) return "binary";
    return `+${change.added} −${change.removed}`;
  }

  function show(found) {
    const parts = [];
    const unsaved = W.unsaved().filter((path) => path.startsWith("system/")); // nothing else is frozen
    if (unsaved.length) parts.push(W.element("p", { class: "notice warn" }, W.element("b", { text: "Not saved" }), W.element("span", { text: `${unsaved.join(", ")}: what is in the editor is not on disk and would not be submitted.` })));
    const unread = W.unread();
    if (unread.length) parts.push(W.element("p", { class: "notice warn" }, W.element("b", { text: "Not read" }), W.element("span", { text: `${unread.length === 1 ? "A message in the inbox" : `${unread.length} messages in the inbox`}: ${[...new Set(unread)].join(", ")}.` })));
    if (found.changes.length) {
      parts.push(W.element("table", { class: "table" },
        W.element("caption", { text: `Changed in system/: ${found.changes.length + found.more} ${found.changes.length + found.more === 1 ? "file" : "files"}` }),
        W.element("tbody", {}, ...found.changes.map((change) => W.element("tr", {}, W.element("td", { class: "mono", text: change.path }), W.element("td", { text: KINDS[change.kind] }), W.element("td", { class: "num", text: lines(change) }))))));
      if (found.more) parts.push(W.element("p", { class: "muted", text: `and ${found.more} more` }));
    } else parts.push(W.element("p", { class: "notice warn" }, W.element("b", { text: "Nothing changed" }), W.element("span", { text: "system/ is as you found it. Submitted like this, the customer gains nothing." })));
    const out = found.leftOut;
    if (out.count) {
      const named = out.first.map((left) => `${left.path} (${left.words})`).join(", ");
      parts.push(W.element("p", { class: "notice warn" }, W.element("b", { text: "Not taken" }), W.element("span", { text: `${out.count} in system/ would not be submitted: ${named}${out.count > out.first.length ? " …" : ""}.` })));
    }
    if (found.entryPoints.length) {
      parts.push(W.element("ul", { class: "rows" }, ...found.entryPoints.map((entry) => W.element("li", {},
        W.element("span", { class: entry.starts ? "tag good" : "tag bad", text: entry.starts ? "✓ starts" : "▲ does not start" }), ` ${entry.name} `, W.element("small", { class: "muted", text: entry.words })))));
    }
    survey.replaceChildren(...parts);
  }

  document.getElementById("wb-submit-open").addEventListener("click", async () => {
    failure.hidden = true;
    go.disabled = true;
    survey.textContent = "Reading what changed and whether the entry points start…";
    dialog.showModal();
    try {
      show(await W.get(W.boot.urls.survey));
      go.disabled = false;
    } catch (error) {
      survey.textContent = error.message;
    }
  });

  async function send(body) {
    go.disabled = abandon.disabled = true;
    go.textContent = "Submitting…";
    failure.hidden = true;
    try {
      const { url } = await W.post(W.boot.urls.submit, body);
      location.assign(url);
    } catch (error) {
      failure.textContent = error.message;
      failure.hidden = false;
      go.disabled = abandon.disabled = false;
      go.textContent = "Submit, finally";
    }
  }
  go.addEventListener("click", () => send({}));
  abandon.addEventListener("click", () => { if (confirm("Give up this run? It is graded as it stands and counts like any other.")) send({ abandon: true }); });
})();
