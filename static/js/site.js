// The site works without this file. It adds: the viewer's time zone, the theme without a reload, tables that filter as one types.
"use strict";

const root = document.documentElement;

function rememberZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || document.cookie.split("; ").includes(`tz=${zone}`)) return;
  document.cookie = `tz=${zone}; path=/; max-age=31536000; samesite=lax`;
}

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function followThemeSwitch(form) {
  const button = form.querySelector("button");
  const relabel = () => {
    button.value = isDark() ? "light" : "dark";
    form.querySelector("[data-theme-name]").textContent = isDark() ? "Light" : "Dark";
  };
  relabel();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = new FormData(form, button);
    root.dataset.theme = button.value;
    relabel();
    fetch(form.action, { method: "POST", body: fields, headers: { "HX-Request": "true" } });
  });
}

function followFilter(input) {
  const rows = [...document.querySelectorAll(`${input.dataset.filters} tbody tr`)];
  const none = document.querySelector(input.dataset.none);
  const words = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !wanted.every((word) => words[index].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    if (none) none.hidden = shown > 0;
  };
  // What is searched for stands in the address, so that it can be linked and "back" returns to it.
  let later = 0;
  const keep = () => {
    const address = new URL(location.href);
    if (input.value.trim()) address.searchParams.set(input.name, input.value.trim());
    else address.searchParams.delete(input.name);
    history.replaceState(history.state, "", address);
  };
  input.addEventListener("input", () => { apply(); clearTimeout(later); later = setTimeout(keep, 200); });
  input.addEventListener("change", keep); // before a link is followed
  input.form?.addEventListener("submit", (event) => event.preventDefault());
  apply();
}

// A page left for the browser's cache would post a stale form or show an old state on "back": a begun run is begun once.
function guardDoublePost(form) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button");
    if (button) setTimeout(() => { button.disabled = true; }, 0);
  });
  addEventListener("pageshow", () => { const button = form.querySelector("button"); if (button) button.disabled = false; });
}

rememberZone();
document.querySelectorAll("[data-theme-switch]").forEach(followThemeSwitch);
document.querySelectorAll("[data-filters]").forEach(followFilter);
document.querySelectorAll("[data-once]").forEach(guardDoublePost);
