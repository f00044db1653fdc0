// storage: small choices of the reader that this browser keeps. Without storage they last until a reload.
const kept = new Map();

export function stored(name, otherwise = "") {
  try {
    return localStorage.getItem(`lore.${name}`) ?? otherwise;
  } catch {
    return kept.get(name) ?? otherwise;
  }
}

export function store(name, value) {
  try {
    if (value) localStorage.setItem(`lore.${name}`, value);
    else localStorage.removeItem(`lore.${name}`);
  } catch {
    kept.set(name, value);
  }
}
