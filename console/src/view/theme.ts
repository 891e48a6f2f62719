/** Dark or light: as the system says, unless chosen here. */
const KEY = "turnwire.theme";

function show(theme: string | null): void {
  if (theme === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function startTheme(): void {
  show(localStorage.getItem(KEY));
}

export function toggleTheme(): void {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
  const next = dark ? "light" : "dark";
  localStorage.setItem(KEY, next);
  show(next);
}
