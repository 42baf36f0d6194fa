// Where a browser keeps the keys of its logins: no script can read one, only have it sign.

/** Opens the store, and does one thing with it. */
const inStore = (mode, request) =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open('console', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys', { keyPath: 'thumbprint' })
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('keys', mode)
      const asked = request(transaction.objectStore('keys'))
      transaction.oncomplete = () => {
        opening.result.close()
        resolve(asked.result)
      }
      transaction.onabort = () => reject(transaction.error)
    }
  })

export const keepKey = (key) => inStore('readwrite', (keys) => keys.put(key))

/** Undefined where this browser does not have it, or not any more. */
export const findKey = (thumbprint) => inStore('readonly', (keys) => keys.get(thumbprint))

/** All but one: a login takes the place of the one before. */
export const forgetKeys = (except) =>
  inStore('readwrite', (keys) => {
    const all = keys.getAllKeys()
    all.onsuccess = () => {
      for (const thumbprint of all.result) if (thumbprint !== except) keys.delete(thumbprint)
    }
    return all
  })
