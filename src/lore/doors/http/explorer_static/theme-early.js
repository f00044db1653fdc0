// Before the first paint: the colours that the reader has chosen, if any. theme.js does the rest.
try {
  const chosen = localStorage.getItem("lore.theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // without storage the system decides
}
