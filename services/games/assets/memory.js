// What the page remembers lasts as long as its tab. In an iframe of another site a browser may allow nothing at all;
// then the page works, and remembers nothing over a reload.

/** @returns undefined when nothing is remembered */
export function recall(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) ?? undefined
  } catch {
    return undefined
  }
}

export function remember(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value))
  } catch {}
}
