/** Dark or light: as the system says, unless chosen here. */
import { inBrowser } from "../state/kept.js";

function show(theme: string | undefined): void {
  if (theme !== "dark" && theme !== "light") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function startTheme(): void {
  show(inBrowser.text("theme"));
}

export function toggleTheme(): void {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
  const next = dark ? "light" : "dark";
  inBrowser.set("theme", next);
  show(next);
}
