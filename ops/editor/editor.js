// The editor of the workbench as one classic script: window.FdeEditor.open({parent, doc, path, nonce, onChange, onSave}).
import { basicSetup } from "codemirror";
import { EditorState, Compartment } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { indentWithTab } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting, indentUnit } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { sql } from "@codemirror/lang-sql";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { tags } from "@lezer/highlight";

const LANGUAGES = { py: python, sql: sql, json: json, md: markdown };

// Colours come from the page's custom properties, so that light and dark follow the site.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], color: "var(--code-name)" },
  { tag: [tags.heading], fontWeight: "600" },
]);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "transparent", color: "inherit", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--code-comment)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-active-line)" },
  "&.cm-focused .cm-cursor": { borderLeftColor: "currentColor" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--code-selection)",
  },
  ".cm-panels": { backgroundColor: "var(--code-panel)", color: "inherit" },
});

function open({ parent, doc, path, nonce, readOnly, onChange, onSave }) {
  const language = LANGUAGES[path.split(".").pop()];
  const extensions = [
    basicSetup,
    // Tab indents; Escape then Tab leaves the editor, as its documentation has it
    keymap.of([{ key: "Mod-s", preventDefault: true, run: () => (onSave(), true) }, indentWithTab]),
    indentUnit.of("    "),
    syntaxHighlighting(colours),
    look,
    EditorView.cspNonce.of(nonce || ""),
    EditorState.readOnly.of(Boolean(readOnly)),
    EditorView.updateListener.of((update) => update.docChanged && onChange()),
    EditorView.contentAttributes.of({ "aria-label": `Contents of ${path}` }),
  ];
  if (language) extensions.push(language());
  const view = new EditorView({ parent, state: EditorState.create({ doc, extensions }) });
  return {
    text: () => view.state.doc.toString(),
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

window.FdeEditor = { open };
