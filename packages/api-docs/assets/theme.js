// Runs before anything is painted, so that nothing flashes in the other colours.
document.documentElement.classList.add('js')
try {
  const theme = localStorage.getItem('docs-theme')
  if (theme !== null) document.documentElement.dataset.theme = theme
} catch {
  // A browser that stores nothing follows the system.
}
