// The customer's people: directory, one conversation each, inbox, waiting. What stands here is what `ask` shows in the terminal;
// the feed sends both ways' messages, and after a break everything that was missed, in order.
"use strict";
(() => {
  const W = window.Workbench;
  const byId = (id) => document.getElementById(id);
  const directory = byId("wb-directory");
  const talk = byId("wb-talk");
  const list = byId("wb-messages");
  const text = byId("wb-text");
  const composeState = byId("wb-compose-state");
  const people = new Map();
  const items = new Map(); // by id: the newest form of each message, wait or letter
  const drafts = new Map();
  const pending = new Map(); // messages sent from here that the log does not show yet
  const news = new Set(); // people who answered while somebody else was shown
  let shown = null;
  let seq = 0;
  let attempt = 0;
  let ready = false;

  function words(mine, name, when, body, extra = "") {
    return W.element("li", { class: `${mine ? "mine" : "theirs"} ${extra}` }, W.element("span", { class: "meta", text: [name, when].filter(Boolean).join(" · ") }), W.element("span", { class: "words", text: body }));
  }

  function drawDirectory() {
    directory.replaceChildren(...[...people.values()].map((person) => {
      const button = W.element("button", { type: "button", "data-person": person.id, onclick: () => showPerson(person.id) },
        W.element("span", {}, W.element("strong", { text: person.name }), W.element("span", { class: "muted small", text: ` ${person.role}` })),
        W.element("span", { class: "persona", text: person.persona }));
      if (news.has(person.id)) button.firstChild.append(" ", W.element("span", { class: "wb-dot" }, W.element("span", { class: "visually-hidden", text: "new answer" })));
      return W.element("li", {}, button);
    }));
  }

  function drawTalk() {
    const rows = [];
    for (const item of items.values()) {
      if (item.kind === "message" && item.person === shown) {
        rows.push(words(true, "You", item.sent, item.text));
        if (item.answer) rows.push(words(false, item.automatic ? `${item.name} (automatic reply)` : item.name, item.answered, item.answer));
        else rows.push(W.element("li", { class: "note" }, W.element("span", { class: "words", text: "no reply" })));
      } else if (item.kind === "letter" && item.person === shown && item.text) rows.push(words(false, item.name, item.sent, item.text));
    }
    for (const message of pending.values()) if (message.person === shown) rows.push(words(true, "You", message.state, message.text));
    if (!rows.length) rows.push(W.element("li", { class: "note" }, W.element("span", { class: "words", text: "Nothing said yet." })));
    list.replaceChildren(...rows);
    list.scrollTop = list.scrollHeight;
  }

  const letters = () => [...items.values()].filter((item) => item.kind === "letter");
  /** Who wrote unasked and has not been read yet. */
  W.unread = () => letters().filter((item) => !item.read).map((item) => item.name);

  function drawInbox() {
    const unread = W.unread().length;
    byId("wb-unread").hidden = byId("wb-unread-bottom").hidden = unread === 0;
    const rows = letters().map((item) => words(false, item.name, item.sent, item.text || "…", item.read ? "" : "unread"));
    if (!rows.length) rows.push(W.element("li", { class: "note" }, W.element("span", { class: "words", text: "Nothing has come in." })));
    byId("wb-inbox").replaceChildren(...rows.reverse());
    return unread;
  }

  async function readInbox() {
    if (!drawInbox()) return;
    try {
      await W.post(W.boot.urls.inbox, {});
    } catch (error) {
      W.say(error.message, { bad: true });
    }
  }

  function showPerson(id) {
    if (shown) drafts.set(shown, text.value);
    shown = id;
    news.delete(id);
    const person = people.get(id);
    byId("wb-talk-name").textContent = person.name;
    byId("wb-talk-role").textContent = person.role;
    byId("wb-talk-persona").textContent = person.persona;
    text.value = drafts.get(id) || "";
    text.setAttribute("aria-label", `Message to ${person.name}`);
    composeState.textContent = "";
    directory.hidden = true;
    talk.hidden = false;
    drawTalk();
    text.focus();
  }
  byId("wb-talk-back").addEventListener("click", () => {
    drafts.set(shown, text.value);
    const button = shown;
    shown = null;
    talk.hidden = true;
    directory.hidden = false;
    drawDirectory();
    directory.querySelector(`[data-person="${CSS.escape(button)}"]`)?.focus();
  });

  // A message keeps its id through every retry: it is sent once, answered once.
  async function send(person, body, id = W.newId(), tries = 0) {
    pending.set(id, { person, text: body, state: "sending" });
    if (shown === person) drawTalk();
    try {
      await W.post(W.boot.urls.messages, { person, text: body, id });
      const message = pending.get(id);
      if (message) message.state = "sent";
    } catch (error) {
      if ((error.status === 0 || error.status >= 500) && tries < 30) {
        pending.get(id).state = "sending again";
        setTimeout(() => send(person, body, id, tries + 1), W.backOff(Math.min(tries, 4)));
      } else {
        pending.delete(id);
        if (shown === person && !text.value) text.value = body;
        else drafts.set(person, body);
        composeState.textContent = error.message;
      }
    }
    if (shown === person) drawTalk();
  }
  byId("wb-compose").addEventListener("submit", (event) => {
    event.preventDefault();
    const body = text.value;
    if (!body.trim()) { composeState.textContent = "There is nothing written yet."; return; }
    text.value = "";
    drafts.delete(shown);
    composeState.textContent = "";
    send(shown, body);
  });
  text.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); byId("wb-compose").requestSubmit(); } });

  // A wait of more than a working day is asked for twice: first the site says where it leads, then it is confirmed as it stands.
  let waiting = null; // the id outlives a retry of the same wait
  const until = byId("wb-until");
  function sayWait(words, { bad = false, asks = false } = {}) {
    const line = byId("wb-wait-state");
    line.textContent = bad ? `▲ ${words}` : words;
    line.classList.toggle("bad", bad);
    line.classList.toggle("muted", !bad && !asks);
    byId("wb-wait-go").textContent = asks ? "Wait until then" : "Wait";
    byId("wb-wait-back").hidden = !asks;
  }
  function forgetWait() {
    if (waiting?.confirmed) sayWait("");
    waiting = null;
  }
  until?.addEventListener("input", forgetWait);
  byId("wb-wait-back")?.addEventListener("click", () => { forgetWait(); until.focus(); });
  byId("wb-wait")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    waiting ??= { until: until.value.trim(), id: W.newId() };
    const asked = waiting;
    sayWait("waiting");
    try {
      const { reply, ahead } = await W.post(W.boot.urls.wait, asked);
      if (ahead) {
        if (waiting !== asked) return; // another time is being written already
        asked.confirmed = true;
        return sayWait(`That leads to ${ahead.until}: ${ahead.working_days} working days ahead. No time has passed yet.`, { asks: true });
      }
      sayWait(reply.clock ? `It is now ${reply.clock.words}.` : "Done.");
      if (waiting === asked) { until.value = ""; waiting = null; }
    } catch (error) {
      sayWait(error.message, { bad: true });
      if (error.status && error.status < 500) waiting = null;
    }
  });

  function showClock(clock) {
    byId("wb-calendar").hidden = !clock;
    if (clock) byId("wb-calendar-now").textContent = clock.words;
  }

  function take(frame) {
    for (const item of frame.items) {
      pending.delete(item.id);
      items.set(`${item.kind}:${item.id}`, item);
      if (item.kind === "trial") dispatchEvent(new CustomEvent("workbench:trial", { detail: item }));
      if (ready && item.kind === "message" && item.person !== shown) news.add(item.person);
    }
    seq = Math.max(seq, frame.seq);
    ready = true;
    showClock(frame.clock);
    if (shown) drawTalk(); else drawDirectory();
    drawInbox();
    if (!byId("panel-inbox").hidden) readInbox();
    if (!["preparing", "open"].includes(frame.state)) W.report("feed", "over");
  }

  let line = null;
  let again = 0;
  function later() {
    W.report("feed", "reconnecting");
    clearTimeout(again);
    again = setTimeout(listen, W.backOff(attempt++));
  }
  function lost() {
    if (!line) return;
    const socket = line;
    line = null;
    socket.close();
    later();
  }
  addEventListener("offline", lost);
  addEventListener("workbench:lost", lost);
  addEventListener("online", () => { if (again && !line) { clearTimeout(again); listen(); } });

  let asked = 0; // tickets asked for: only the last is used
  let refused = false; // the last ticket was not taken: it may have been too old, once
  async function listen() {
    again = 0;
    const turn = asked += 1;
    let ticket;
    try {
      ticket = await W.post(W.boot.urls.feed_ticket, {});
    } catch (refusal) {
      if (turn !== asked) return;
      if (refusal.status === 401 || refusal.status === 403) return W.report("feed", "signed out");
      if (refusal.status === 404) return W.report("feed", "over");
      return later();
    }
    if (turn !== asked) return;
    const socket = line = new WebSocket(W.socketUrl(`${ticket.url}&after=${seq}`));
    socket.onmessage = (message) => { if (socket !== line) return; attempt = 0; refused = false; W.report("feed", "connected"); take(JSON.parse(message.data)); };
    socket.onclose = (event) => {
      if (socket !== line) return;
      line = null;
      if (event.code === 4401) return W.report("feed", "signed out");
      if (event.code === 4410) return W.report("feed", "changed");
      if (event.code === 4404 || (event.code === 4403 && refused)) return W.report("feed", "over");
      refused = event.code === 4403;
      later();
    };
  }

  addEventListener("workbench:tab", (event) => {
    if (event.detail === "tab-inbox") readInbox();
    if (event.detail === "tab-people" && shown) text.focus();
  });

  async function start(tries = 0) {
    try {
      const found = await W.get(W.boot.urls.people);
      for (const person of found.directory) people.set(person.id, person);
      drawDirectory();
      showClock(found.clock);
      listen();
    } catch (error) {
      if (error.status === 401) return W.report("feed", "signed out");
      if (error.status === 404) return W.report("feed", "over");
      W.report("feed", "reconnecting");
      setTimeout(() => start(tries + 1), W.backOff(tries));
    }
  }
  start();
})();
