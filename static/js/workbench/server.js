// Talking to the site: one place for requests, for the words that say how the connection is, and for what the page was told.
"use strict";
window.Workbench = (() => {
  const boot = JSON.parse(document.getElementById("wb-boot").textContent);
  const csrf = () => (document.cookie.match(/(?:^|; )csrftoken=([^;]+)/) || [])[1] || "";
  const connection = document.getElementById("wb-connection");
  const notice = document.getElementById("wb-notice");

  class Refusal extends Error {
    constructor(status, words, body) {
      super(words);
      this.status = status;
      this.body = body;
    }
  }

  async function request(url, options = {}) {
    let answer;
    try {
      answer = await fetch(url, {
        ...options,
        headers: { Accept: "application/json", "X-CSRFToken": csrf(), ...(options.headers || {}) },
      });
    } catch {
      throw new Refusal(0, "The site does not answer. Nothing is lost; try again in a moment.");
    }
    if (answer.redirected && new URL(answer.url).pathname.startsWith("/account/")) throw new Refusal(401, "You are signed out.");
    const type = answer.headers.get("content-type") || "";
    const body = type.includes("json") ? await answer.json() : await answer.text();
    if (!answer.ok) throw new Refusal(answer.status, body.error || `The site answered ${answer.status}. Nothing is lost; try again.`, body);
    return body;
  }

  const get = (url, parameters) => request(parameters ? `${url}?${new URLSearchParams(parameters)}` : url);
  const post = (url, body) => request(url, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  const upload = (url, form) => request(url, { method: "POST", body: form });

  // Connection: words in one place. The worst of what the parts report is shown.
  const RANK = ["connected", "connecting", "reconnecting", "waiting", "signed out", "changed", "over"];
  const WORDS = {
    connected: "Connected",
    connecting: "Connecting",
    reconnecting: "Reconnecting. Your shell goes on and files are kept; keys are not taken until it is back.",
    "signed out": "Signed out. The run is kept: sign in again.",
    changed: "What you may see here has changed. The run is kept.",
    over: "This run is over.",
  };
  const parts = new Map();
  let waiting = ""; // where the workspace stands in the queue, in the site's words
  function report(part, state, words = "") {
    if (state === null) parts.delete(part);
    else parts.set(part, state);
    if (state === "waiting") waiting = words;
    const worst = [...parts.values()].reduce((a, b) => (RANK.indexOf(b) > RANK.indexOf(a) ? b : a), "connected");
    const shown = worst === "waiting" ? waiting : WORDS[worst];
    if (connection.dataset.state === worst && (worst !== "waiting" || connection.textContent === shown)) return;
    connection.dataset.state = worst;
    connection.textContent = shown;
    if (worst === "signed out") connection.append(element("a", { href: `${boot.urls.login}?next=${encodeURIComponent(location.pathname)}`, text: " Sign in" }));
    if (worst === "changed") connection.append(element("a", { href: location.pathname, text: " Reload" }));
    if (worst === "over") setTimeout(() => location.assign(boot.urls.grading), 1500);
  }

  // With ``dismissed`` the words stay until they are dismissed, which is then told; else they go by themselves.
  let noticeTimer;
  function say(words, { bad = false, forMs = 9000, dismissed = null } = {}) {
    notice.replaceChildren(element("span", { text: words }));
    notice.classList.toggle("bad", bad);
    notice.hidden = false;
    clearTimeout(noticeTimer);
    if (dismissed) notice.append(element("button", { type: "button", class: "button plain", text: "Dismiss", onclick: () => { notice.hidden = true; dismissed(); } }));
    else noticeTimer = setTimeout(() => { notice.hidden = true; }, forMs);
  }

  /** Take these words away if they are what is shown. */
  function unsay(words) { if (notice.firstChild?.textContent === words) notice.hidden = true; }

  // An id made here lets a retried request be recognised: one message, one reply.
  const newId = () => (crypto.randomUUID ? crypto.randomUUID() : [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join(""));

  // A site that restarts loses all its pages in one moment: they come back spread over the whole pause, not at its end.
  const backOff = (attempt) => 50 + Math.min(10000, 1000 * 2 ** attempt) * Math.random();

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") made.textContent = value;
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  const socketUrl = (path) => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
  const remember = (key, value) => { try { localStorage.setItem(`fdegym.${key}`, JSON.stringify(value)); } catch { /* private mode */ } };
  const recall = (key, otherwise) => { try { return JSON.parse(localStorage.getItem(`fdegym.${key}`)) ?? otherwise; } catch { return otherwise; } };

  return { boot, get, post, upload, report, say, unsay, newId, backOff, element, socketUrl, remember, recall, Refusal };
})();
