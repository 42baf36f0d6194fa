import { createReadStream } from 'node:fs'
import { mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { HeadStore } from './store.ts'

/**
 * Heads in a folder, for one machine and for development. A file appears under its name while it is written, because many
 * kinds of storage cannot rename; what a killed process leaves ends in the middle of a line.
 */
export const folderStore = (dir: string): HeadStore => ({
  async put(name, text) {
    const path = join(dir, name)
    await mkdir(dirname(path), { recursive: true })
    const file = await open(path, 'wx', 0o440).catch((error) => {
      if (error.code === 'EEXIST') return null
      throw error
    })
    if (file === null) return false
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  },
  async list(prefix, after) {
    const folder = dirname(`${prefix}x`)
    const files = await readdir(join(dir, folder)).catch((error) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const names = files.map((file) => `${folder}/${file}`)
    return names.filter((name) => name.startsWith(prefix) && name > after).sort()
  },
  read: (name) => createReadStream(join(dir, name), 'utf8'),
})
