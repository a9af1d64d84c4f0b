// Terminals. A terminal lives in the workspace; this is a viewer that can be away. It counts the bytes it has seen, asks for
// the rest by that number after a break, and acknowledges what is drawn, so that a flood slows the program and not the page.
"use strict";
(() => {
  const W = window.Workbench;
  const stage = document.getElementById("wb-stage");
  const tabs = document.getElementById("wb-centre-tabs");
  const search = document.getElementById("wb-search");
  const ACK_BYTES = 65536;
  const PASTE_CHUNK = 32768;
  const SILENCE_MS = 50000; // the site says something every 21 seconds; after twice that the network is gone without a word
  const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g; // all but tab and line ends
  const LONGEST_LINE = 4095; // a program that reads lines gets no more than this of one: the kernel's limit
  const open = new Map();
  let reader = W.recall("reader", false);

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const probe = document.createElement("span");
    document.body.append(probe);
    const value = (name) => { probe.style.setProperty("color", `var(${name})`); return getComputedStyle(probe).color; };
    const theme = {
      background: value("--term-bg"), foreground: value("--term-text"), cursor: value("--term-text"), cursorAccent: value("--term-bg"),
      selectionBackground: value("--term-selection"),
    };
    for (const name of ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]) {
      theme[name] = value(`--term-${name}`);
      theme[`bright${name[0].toUpperCase()}${name.slice(1)}`] = value(`--term-${name}`);
    }
    theme.brightBlack = value("--term-grey");
    probe.remove();
    return { theme, family: style.getPropertyValue("--mono").trim() };
  }

  async function copy(text) {
    if (!text) return;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // plain http or an old browser: the older way, by a selection
      const area = W.element("textarea", { class: "visually-hidden" });
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) W.say("The browser did not allow copying. Select the text and use its own copy command.", { bad: true });
    }
  }

  class TerminalView {
    constructor(number) {
      this.number = number;
      this.seen = null; // bytes received, as an offset of the terminal's output; null: nothing yet
      this.acked = 0;
      this.attempt = 0;
      this.over = false;
      this.ended = false;
      this.refused = false;
      this.panel = W.element("div", { class: "wb-terminal", role: "tabpanel", id: `panel-terminal-${number}`, "aria-labelledby": `tab-terminal-${number}`, hidden: true });
      stage.append(this.panel);
      this.tab = W.element("button", { type: "button", role: "tab", id: `tab-terminal-${number}`, "aria-controls": this.panel.id, "aria-selected": "false", tabindex: "-1", text: `Terminal ${number}` });
      tabs.insertBefore(this.tab, document.getElementById("wb-terminal-new"));
      this.draw();
      this.connect();
    }

    draw() {
      const { theme, family } = colours();
      this.term = new Terminal({ allowProposedApi: true, fontFamily: family, fontSize: 13, lineHeight: 1.15, scrollback: 10000, theme, screenReaderMode: reader, cursorBlink: false, macOptionIsMeta: true, linkHandler: { activate: (_event, uri) => this.follow(uri) } });
      this.fit = new FitAddon.FitAddon();
      this.finder = new SearchAddon.SearchAddon();
      this.term.loadAddon(this.fit);
      this.term.loadAddon(this.finder);
      this.term.loadAddon(new Unicode11Addon.Unicode11Addon());
      this.term.unicode.activeVersion = "11";
      this.term.loadAddon(new WebLinksAddon.WebLinksAddon((_event, uri) => this.follow(uri)));
      this.term.open(this.panel);
      this.term.attachCustomKeyEventHandler((event) => {
        if (event.type !== "keydown") return true;
        if (W.isPaneKey(event)) return false;
        if (event.ctrlKey && event.shiftKey && event.code === "KeyC") { event.preventDefault(); copy(this.term.getSelection()); return false; }
        if (event.ctrlKey && event.shiftKey && event.code === "KeyF") { event.preventDefault(); openSearch(); return false; }
        // pasting is the browser's own: handling it here too would paste twice
        if (event.ctrlKey && event.shiftKey && event.code === "KeyV") return false;
        if (this.ended && event.key === "Enter") { this.begin(); return false; }
        return true;
      });
      this.panel.addEventListener("paste", (event) => {
        const text = event.clipboardData?.getData("text") || "";
        if (text.split("\n").some((line) => line.length > LONGEST_LINE)) {
          W.say("A pasted line is longer than 4,095 characters: a program that reads it line by line gets only the beginning. Upload it as a file instead.");
        }
        // with a control character in it, copied text could end its own paste and press keys
        const plain = text.replace(CONTROLS, "");
        if (plain !== text) {
          event.preventDefault();
          event.stopPropagation();
          this.term.paste(plain);
          W.say("Control characters in the pasted text were left out.");
        }
      }, true);
      // For screen readers xterm leaves the text in its field, and drops what comes without a key: an emoji panel, dictation.
      const field = this.term.textarea;
      let keyDown = false;
      field.addEventListener("keydown", () => { keyDown = true; }, true);
      field.addEventListener("keyup", () => { keyDown = false; }, true);
      field.addEventListener("blur", () => { keyDown = false; });
      field.addEventListener("input", (event) => {
        if (this.term.options.screenReaderMode && !keyDown && !event.isComposing && event.inputType === "insertText" && event.data) this.term.input(event.data);
      });
      this.term.onData((text) => this.type(new TextEncoder().encode(text)));
      this.term.onBinary((text) => this.type(Uint8Array.from(text, (c) => c.charCodeAt(0))));
      this.term.onResize(() => this.sendSize());
      this.watch = new ResizeObserver(() => this.refit());
      this.watch.observe(this.panel);
    }

    follow(uri) {
      if (/^https?:/i.test(uri) && document.activeElement && this.panel.contains(document.activeElement)) window.open(uri, "_blank", "noopener,noreferrer");
    }

    // A hidden or collapsed pane has no size: the last real one stays.
    refit() {
      if (this.panel.hidden || this.panel.clientWidth < 60 || this.panel.clientHeight < 40) return;
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => {
        const size = this.fit.proposeDimensions();
        if (size && size.cols >= 10 && size.rows >= 3 && (size.cols !== this.term.cols || size.rows !== this.term.rows)) this.term.resize(size.cols, size.rows);
      });
    }

    async connect() {
      if (this.over) return;
      const turn = this.turn = (this.turn || 0) + 1; // two at once would show every byte twice
      if (this.waits) this.waits = false; // what is shown stays until the site has answered
      else W.report(this.tab.id, this.attempt ? "reconnecting" : "connecting");
      let ticket;
      try {
        ticket = await W.post(W.boot.urls.ticket, { terminal: this.number });
      } catch (refusal) {
        if (turn !== this.turn) return;
        if (refusal.status === 401 || refusal.status === 403) return this.stop("signed out");
        if (refusal.status === 409 || refusal.status === 404) return this.stop("over");
        if (refusal.body?.waiting) {
          // its place in the queue, shown as it moves; asking again keeps it
          this.waits = true;
          W.report(this.tab.id, "waiting", refusal.message);
          clearTimeout(this.retry);
          this.retry = setTimeout(() => this.connect(), 1500 + 1000 * Math.random());
          return;
        }
        // a moment's absence is nobody's business; what lasts, a site without room say, is told once
        if (refusal.status >= 500 && this.attempt >= 2 && this.told !== refusal.message) {
          this.told = refusal.message;
          this.tell(refusal.message);
        }
        return this.again();
      }
      this.told = null;
      if (turn !== this.turn) return;
      const after = this.seen === null ? "" : `&after=${this.seen}`;
      const socket = new WebSocket(W.socketUrl(`${ticket.url}${after}`));
      socket.binaryType = "arraybuffer";
      this.socket = socket;
      this.heardAt = performance.now();
      socket.onmessage = (message) => {
        if (socket !== this.socket) return;
        this.heardAt = performance.now();
        if (typeof message.data === "string") this.control(JSON.parse(message.data)); else this.output(new Uint8Array(message.data));
      };
      socket.onclose = (event) => { if (socket === this.socket) { this.unsent(socket); this.closed(event.code); } };
    }

    control(message) {
      if (message.type === "hello") {
        this.attempt = 0;
        this.ended = false;
        this.refused = false;
        if (this.seen !== null && message.seq > this.seen) this.tell(`${(message.seq - this.seen).toLocaleString()} bytes of output passed while you were away and are not shown`);
        if (this.seen === null || message.seq !== this.seen) this.decoder = new TextDecoder();
        this.seen = message.seq;
        this.acked = message.seq;
        W.report(this.tab.id, "connected");
        this.refit();
        this.sendSize();
      } else if (message.type === "ping") this.send({ type: "pong" });
      else if (message.type === "gap") {
        this.tell(`${(message.to - message.from).toLocaleString()} bytes of output are not shown`);
        this.seen = message.to;
        this.decoder = new TextDecoder();
      } else if (message.type === "reset") {
        // a new shell: modes that a dead program left on (mouse, alternate screen, bracketed paste) end here
        this.term.reset();
        this.decoder = new TextDecoder();
      } else if (message.type === "exit") {
        this.ended = true;
        this.tell("the shell has ended; press Enter for a new one");
      }
    }

    // The decoder keeps a character that straddles two frames; xterm never sees half of one.
    output(bytes) {
      this.seen += bytes.length;
      const upTo = this.seen;
      this.term.write((this.decoder ||= new TextDecoder()).decode(bytes, { stream: true }), () => {
        if (upTo - this.acked >= ACK_BYTES || this.term.buffer.active.length < 2) this.acknowledge(upTo);
        else { clearTimeout(this.ackTimer); this.ackTimer = setTimeout(() => this.acknowledge(upTo), 60); }
      });
    }

    acknowledge(upTo) {
      if (upTo <= this.acked) return;
      this.acked = upTo;
      this.send({ type: "ack", seq: upTo });
    }

    send(message) { if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message)); }
    sendSize() { if (!this.panel.hidden && this.term.cols >= 10) this.send({ type: "size", columns: this.term.cols, rows: this.term.rows }); }

    type(bytes) {
      if (this.socket?.readyState !== WebSocket.OPEN || this.ended) return;
      for (let at = 0; at < bytes.length; at += PASTE_CHUNK) this.socket.send(bytes.subarray(at, at + PASTE_CHUNK));
    }

    tell(words) { this.term.write(`\r\n\x1b[2m[${words}]\x1b[0m\r\n`); }

    begin() {
      this.seen = null;
      this.ended = false;
      this.attempt = 0;
      this.socket?.close();
      this.socket = null;
      this.connect();
    }

    // What the browser still holds when a connection ends does not come: whoever typed or pasted it must know.
    unsent(socket) {
      if (socket.bufferedAmount) W.say("The connection broke before everything that you typed or pasted had left. See what arrived before you go on.", { bad: true });
    }

    closed(code) {
      if (code === 4401) return this.stop("signed out");
      if (code === 4410) return this.stop("changed");
      if (code === 4409 || (code === 4403 && this.refused)) return this.stop("over");
      this.refused = code === 4403; // the ticket may have been too old, once
      if (this.ended) return W.report(this.tab.id, "connected");
      if (code === 4404) { this.ended = true; return W.report(this.tab.id, "connected"); }
      if (code === 4429) { this.ended = true; W.report(this.tab.id, "connected"); return this.tell("no further terminal can be opened; close one by typing exit in it"); }
      this.again();
    }

    // A network can vanish without closing anything; then this side hangs up and asks again.
    lost() {
      if (this.over || this.ended || !this.socket) return;
      const socket = this.socket;
      this.socket = null;
      this.unsent(socket);
      socket.close();
      this.again();
    }

    again() {
      W.report(this.tab.id, "reconnecting");
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.connect(), W.backOff(this.attempt++));
    }

    now() {
      if (this.over || this.ended || this.socket?.readyState === WebSocket.OPEN || this.socket?.readyState === WebSocket.CONNECTING) return;
      this.attempt = Math.min(this.attempt, 1);
      clearTimeout(this.retry);
      this.connect();
    }

    stop(state) {
      this.over = true;
      W.report(this.tab.id, state);
    }

    focus() { this.refit(); this.term.focus(); }
  }

  const current = () => [...open.values()].find((view) => !view.panel.hidden) || open.get(1);
  function remember() { W.remember(`terminals.${W.boot.run}`, [...open.keys()]); }

  function add(number, chosen = true) {
    open.set(number, new TerminalView(number));
    remember();
    if (chosen) W.select(open.get(number).tab);
  }
  document.getElementById("wb-terminal-new").addEventListener("click", () => {
    let number = 1;
    while (open.has(number) && !open.get(number).ended) number += 1;
    if (open.has(number)) { open.get(number).begin(); W.select(open.get(number).tab); } else add(number);
  });
  // Works while a flood saturates the stream: the byte goes the other way.
  document.getElementById("wb-interrupt").addEventListener("click", () => { const view = current(); view.type(new Uint8Array([3])); view.focus(); });
  document.getElementById("wb-reader").addEventListener("click", (event) => {
    reader = !reader;
    W.remember("reader", reader);
    event.currentTarget.setAttribute("aria-pressed", String(reader));
    for (const view of open.values()) view.term.options.screenReaderMode = reader;
  });
  document.getElementById("wb-reader").setAttribute("aria-pressed", String(reader));

  function openSearch() { search.hidden = false; search.querySelector("input").focus(); dispatchEvent(new Event("workbench:resized")); }
  document.getElementById("wb-find").addEventListener("click", openSearch);
  search.addEventListener("submit", (event) => { event.preventDefault(); if (!current().finder.findNext(search.querySelector("input").value)) W.say("Not found in this terminal."); });
  search.addEventListener("keydown", (event) => { if (event.key === "Escape") { search.hidden = true; current().focus(); } });

  addEventListener("workbench:tab", (event) => { for (const view of open.values()) if (view.tab.id === event.detail) view.focus(); });
  addEventListener("workbench:resized", () => { for (const view of open.values()) view.refit(); });
  addEventListener("offline", () => { for (const view of open.values()) view.lost(); });
  setInterval(() => {
    const gone = [...open.values()].filter((view) => view.socket && performance.now() - view.heardAt > SILENCE_MS);
    for (const view of gone) view.lost();
    if (gone.length) dispatchEvent(new Event("workbench:lost"));
  }, 5000);
  addEventListener("online", () => { for (const view of open.values()) view.now(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) for (const view of open.values()) view.now(); });
  const recolour = () => { for (const view of open.values()) view.term.options.theme = colours().theme; };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  new MutationObserver(recolour).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

  const known = W.recall(`terminals.${W.boot.run}`, [1]).filter((number) => Number.isInteger(number) && number > 0 && number < 100);
  for (const number of known.length ? known : [1]) add(number, false);
  W.select(open.values().next().value.tab);
  W.terminals = { open, current };
})();
