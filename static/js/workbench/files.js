// Files of the workspace: a tree that reads a directory when it is opened, an editor per file, documents of the customer.
"use strict";
(() => {
  const W = window.Workbench;
  const tree = document.getElementById("wb-tree");
  const stage = document.getElementById("wb-stage");
  const tabs = document.getElementById("wb-centre-tabs");
  const editors = new Map();
  const nonce = document.querySelector("script[nonce]")?.nonce || "";
  const size = (bytes) => (bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${(bytes / 1024).toFixed(0)} KB` : `${(bytes / 1048576).toFixed(1)} MB`);
  const problem = (error) => W.say(error.message, { bad: true });

  // ---- tree
  async function fill(list, path) {
    try {
      const { entries } = await W.get(W.boot.urls.files, { path });
      entries.sort((a, b) => (a.kind === "directory" ? 0 : 1) - (b.kind === "directory" ? 0 : 1) || a.name.localeCompare(b.name));
      list.replaceChildren(...entries.map((entry) => row(entry, path ? `${path}/${entry.name}` : entry.name)));
      if (!entries.length) list.append(W.element("li", { class: "muted small", text: "empty" }));
    } catch (error) {
      list.replaceChildren(W.element("li", { class: "bad small", text: error.message }));
    }
  }

  function row(entry, path) {
    const item = W.element("li", { role: "treeitem", "aria-selected": "false" });
    if (entry.kind === "directory") {
      const inner = W.element("ul", { role: "group", hidden: true });
      const toggle = () => {
        const opening = inner.hidden;
        inner.hidden = !opening;
        item.setAttribute("aria-expanded", String(opening));
        if (opening) fill(inner, path);
      };
      item.setAttribute("aria-expanded", "false");
      item.append(W.element("button", { type: "button", class: "wb-entry directory", onclick: toggle, text: `${entry.name}/` }), inner);
      item.dataset.path = path;
    } else if (entry.kind === "file") {
      item.append(
        W.element("button", { type: "button", class: "wb-entry", onclick: () => edit(path), text: entry.name }),
        W.element("span", { class: "wb-entry-acts" }, W.element("small", { class: "muted", text: size(entry.size) }),
          W.element("a", { href: `${W.boot.urls.file}?${new URLSearchParams({ path, download: 1 })}`, download: entry.name, title: `Download ${entry.name}`, "aria-label": `Download ${entry.name}`, text: "↓" }),
          ...(writable(path) ? [
            W.element("button", { type: "button", title: `Rename ${entry.name}`, "aria-label": `Rename ${entry.name}`, onclick: () => rename(path), text: "✎" }),
            W.element("button", { type: "button", title: `Delete ${entry.name}`, "aria-label": `Delete ${entry.name}`, onclick: () => remove(path), text: "×" })] : [])),
      );
    } else item.append(W.element("span", { class: "wb-entry muted", title: "neither file nor directory", text: `${entry.name} (${entry.kind})` }));
    return item;
  }

  const writable = (path) => path.startsWith("system/") || path.startsWith("deliverables/");
  async function again() {
    const opened = [...tree.querySelectorAll('[aria-expanded="true"]')].map((item) => item.dataset.path);
    await fill(tree, "");
    for (const path of opened) {
      const item = [...tree.querySelectorAll("[data-path]")].find((candidate) => candidate.dataset.path === path);
      if (item) { item.setAttribute("aria-expanded", "true"); item.lastChild.hidden = false; await fill(item.lastChild, path); }
    }
  }
  async function remove(path) {
    if (!confirm(`Delete ${path}? This cannot be undone here.`)) return;
    try { await W.post(W.boot.urls.file, { action: "delete", path }); editors.get(path)?.close(true); await again(); } catch (error) { problem(error); }
  }
  async function rename(path) {
    const to = prompt("New path", path);
    if (!to || to === path) return;
    const editor = editors.get(path);
    if (editor?.dirty) return W.say(`${path} is not saved. Save it, then rename it.`, { bad: true });
    try {
      await W.post(W.boot.urls.file, { action: "rename", path, to });
      await again();
      if (editor) { editor.close(true); await edit(to); }
    } catch (error) { problem(error); }
  }
  document.getElementById("wb-file-new").addEventListener("click", async () => {
    const path = prompt("Path of the new file, in system/ or deliverables/", "system/");
    if (!path || path.endsWith("/")) return;
    if (!writable(path)) return W.say("A file can be made in system/ and deliverables/ only. Nothing was made.", { bad: true });
    await edit(path, { fresh: true });
    const editor = editors.get(path);
    if (editor?.version === null) editor.save(); // it stands in the tree, and for the shell, from now on
  });
  document.getElementById("wb-upload").addEventListener("change", async (event) => {
    const path = prompt("Into which directory?", "deliverables");
    const form = new FormData();
    form.append("path", path || "");
    for (const file of event.target.files) form.append("files", file);
    event.target.value = "";
    if (!path) return;
    try {
      const { uploaded } = await W.upload(W.boot.urls.file, form);
      W.say(`Uploaded to ${path}: ${uploaded.join(", ")}`);
      again();
      for (const editor of editors.values()) editor.look();
    } catch (error) { problem(error); }
  });
  document.getElementById("wb-files-again").addEventListener("click", again);
  addEventListener("workbench:tab", (event) => {
    if (event.detail === "tab-files") again();
    const chosen = [...editors.values()].find((editor) => editor.tab.id === event.detail);
    chosen?.look();
    document.getElementById("wb-centre-tabs").classList.toggle("editing", [...editors.values()].some((editor) => !editor.panel.hidden));
  });

  // ---- editor
  let made = 0;
  class Editor {
    constructor(path, file) {
      const id = `file-${++made}`;
      this.path = path;
      this.version = file.version ?? null;
      this.panel = W.element("div", { class: "wb-editor", role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, hidden: true });
      this.state = W.element("small", { class: "muted", role: "status" });
      this.readOnly = file.editable === false || (!writable(path));
      const save = W.element("button", { type: "button", class: "button quiet", onclick: () => this.save(), text: "Save" });
      save.disabled = this.readOnly;
      this.panel.append(W.element("div", { class: "wb-editor-bar" }, W.element("span", { class: "mono", text: path }), this.state, save, W.element("button", { type: "button", class: "button plain", onclick: () => this.close(), text: "Close" })));
      const place = W.element("div", { class: "wb-editor-text" });
      this.panel.append(place);
      stage.append(this.panel);
      this.tab = W.element("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": this.panel.id, "aria-selected": "false", tabindex: "-1", title: path, text: path.split("/").pop() });
      tabs.insertBefore(this.tab, document.getElementById("wb-terminal-new"));
      this.view = window.FdeEditor.open({ parent: place, doc: file.text, path, nonce, readOnly: this.readOnly, onChange: () => this.mark(true), onSave: () => this.save() });
      if (file.complete === false) this.state.textContent = "only the first megabyte is shown";
      else if (this.readOnly) this.state.textContent = file.editable === false ? "not text in UTF-8: read only" : "read only";
    }
    mark(dirty) {
      this.dirty = dirty;
      this.tab.classList.toggle("dirty", dirty);
      this.state.textContent = dirty ? "not saved" : "saved";
    }
    async save({ overwrite = false } = {}) {
      if (this.readOnly) return;
      this.state.textContent = "saving";
      try {
        const { version } = await W.post(W.boot.urls.file, { action: "save", path: this.path, text: this.view.text(), version: overwrite ? null : this.version });
        const isNew = this.version === null;
        this.version = version;
        this.mark(false);
        if (isNew) again();
      } catch (error) {
        this.state.textContent = "not saved";
        if (error.body?.conflict) { if (confirm(`${this.path} has changed on disk since you opened it. Overwrite it with what is in the editor?`)) this.save({ overwrite: true }); } else problem(error);
      }
    }
    /** What the shell or an upload wrote meanwhile is shown, unless something here is not saved. */
    async look() {
      if (this.dirty || this.version === null) return;
      try {
        const file = await W.get(W.boot.urls.file, { path: this.path });
        if (this.dirty || file.binary || file.version === this.version) return;
        this.view.replace(file.text);
        this.version = file.version;
        this.mark(false);
        this.state.textContent = "read again: changed on disk";
      } catch { /* gone or out of reach: saving says so */ }
    }
    close(gone = false) {
      if (!gone && this.dirty && !confirm(`${this.path} is not saved. Close it all the same?`)) return;
      const wasShown = !this.panel.hidden;
      this.view.destroy();
      this.panel.remove();
      this.tab.remove();
      editors.delete(this.path);
      if (wasShown) W.select(W.terminals.current().tab);
    }
  }

  async function edit(path, { fresh = false } = {}) {
    if (!editors.has(path)) {
      let file;
      try {
        file = await W.get(W.boot.urls.file, { path });
      } catch (error) {
        if (!fresh) return problem(error);
        file = { text: "", version: null, editable: true, complete: true };
      }
      if (file.binary) return W.say(`${path} is not text. Download it, or look at it in the terminal (sqlite3, file, xxd).`);
      editors.set(path, new Editor(path, file));
      if (fresh && file.version === null) editors.get(path).state.textContent = "new, not on disk yet";
    }
    W.show("terminal");
    W.select(editors.get(path).tab);
    editors.get(path).view.focus();
  }
  document.getElementById("wb-notes").addEventListener("click", () => edit("deliverables/notes.md", { fresh: true }));
  addEventListener("beforeunload", (event) => { if ([...editors.values()].some((editor) => editor.dirty)) event.preventDefault(); });

  // ---- documents
  const list = document.getElementById("wb-documents");
  const article = document.getElementById("wb-document");
  function backToList() { article.hidden = true; list.hidden = false; }
  // Before the tab is chosen: one that is chosen already leads back to the list, coming from another one keeps what is read.
  document.getElementById("tab-documents").addEventListener("click", (event) => { if (event.currentTarget.getAttribute("aria-selected") === "true") backToList(); });
  list.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-document]");
    if (!button) return;
    try {
      const html = await W.get(W.boot.urls.document, { path: button.dataset.document });
      article.innerHTML = html; // rendered and sanitised by the site
      article.prepend(W.element("button", { type: "button", class: "button plain", text: "‹ All documents", onclick: () => { backToList(); button.focus(); } }));
      article.hidden = false;
      list.hidden = true;
      article.parentElement.scrollTop = 0;
      article.focus();
    } catch (error) { problem(error); }
  });
  W.edit = edit;
  addEventListener("focus", () => { for (const editor of editors.values()) if (!editor.panel.hidden) editor.look(); });
  W.unsaved = () => [...editors.values()].filter((editor) => editor.dirty).map((editor) => editor.path);
})();
