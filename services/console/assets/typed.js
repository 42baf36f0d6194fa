// What somebody typed into a form, while they log in again: in this tab alone, until the form is there once more.

const store = 'typed'
const { person, typed } = document.body.dataset

/** What the page made for the form that is left, and the next one has of its own. */
const own = ['_csrf', 'shown', '_input', '_proof', '_opener']

export function keepTyped(form) {
  const fields = [...new FormData(form)].filter(([name]) => !own.includes(name))
  // It may have been done: sent once more under its id it acts once. Otherwise the next try has an id of its own.
  const kept =
    form.querySelector('[data-unknown]') === null ? fields.filter(([name]) => name !== 'operationId') : fields
  sessionStorage.setItem(store, JSON.stringify({ person, action: form.getAttribute('action'), fields: kept }))
}

export const forgetTyped = () => sessionStorage.removeItem(store)

/** On the page of the form, and for whoever typed it. */
export function restoreTyped() {
  const kept = JSON.parse(sessionStorage.getItem(store) ?? 'null')
  if (kept === null || person === undefined) return
  forgetTyped()
  const form = document.querySelector(`.decision form[action="${CSS.escape(kept.action)}"]`)
  if (kept.person !== person || form === null) return
  for (const [name, value] of kept.fields) {
    const field = form.elements[name]
    if (field?.type === 'checkbox') field.checked = true
    else if (field !== undefined) field.value = value
  }
  form.closest('details').open = true
  const notice = Object.assign(document.createElement('p'), { className: 'notice', textContent: typed, tabIndex: -1 })
  notice.setAttribute('role', 'status')
  form.querySelector('.said').prepend(notice)
  notice.focus()
}
