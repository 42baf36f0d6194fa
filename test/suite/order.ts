import { readFileSync } from 'node:fs'

/** Paths in the repository. The lists are written by hand: whatever is missing from them only begins later. */
export interface LongFiles {
  /** The longest of those that keep the processor busy, the longest first. */
  readonly working: readonly string[]
  /** Files that take long and do little: they wait for what a service does after some seconds. */
  readonly waiting: readonly string[]
}

export const longFiles: LongFiles = JSON.parse(readFileSync(new URL('./long-files.json', import.meta.url), 'utf8'))

export const isLong = (path: string): boolean => longFiles.working.includes(path) || longFiles.waiting.includes(path)

export interface Order<T> {
  /** What takes long begins first, so that nothing long is left when the rest is done. */
  readonly working: readonly T[]
  readonly waiting: readonly T[]
}

export function inOrder<T>(files: readonly T[], pathOf: (file: T) => string, long: LongFiles = longFiles): Order<T> {
  const waits = (file: T) => long.waiting.includes(pathOf(file))
  const place = (file: T) => {
    const index = long.working.indexOf(pathOf(file))
    return index === -1 ? long.working.length : index
  }
  return {
    working: files.filter((file) => !waits(file)).toSorted((a, b) => place(a) - place(b)),
    waiting: files.filter(waits),
  }
}

export interface Places {
  /** So many take the first of what is left. */
  readonly first: number
  /** So many take the last of what is left. */
  readonly last: number
}

/** Runs `work` on each item, as many at once as there are places. */
export async function runAll<T>(items: readonly T[], places: Places, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const place = async (take: () => T | undefined) => {
    for (let item = take(); item !== undefined; item = take()) await work(item)
  }
  const first = Array.from({ length: places.first }, () => place(() => left.shift()))
  const last = Array.from({ length: places.last }, () => place(() => left.pop()))
  await Promise.all([...first, ...last])
}
