// theme: light, dark, or as the system has it.
import { signal } from "./signal.js";
import { store, stored } from "./storage.js";

export const THEMES = { "": "As the system", light: "Light", dark: "Dark" };
export const theme = signal(stored("theme"));

export function chooseTheme(name) {
  store("theme", name);
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  theme.set(name);
}

/** Whether the page is dark now. */
export function isDark() {
  return theme.get() === "dark" || (!theme.get() && matchMedia("(prefers-color-scheme: dark)").matches);
}

export function switchTheme() {
  chooseTheme(isDark() ? "light" : "dark");
}

/** A colour of tokens.css as the canvas needs it. */
export function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
