import { readFileSync } from 'node:fs'

/** Paths in the repository. The lists are written by hand: whatever is missing from them only begins later. */
export interface LongFiles {
  /** The longest of those that keep the processor busy, the longest first. */
  readonly working: readonly string[]
  /** Files that take long and do little: they wait for what a service does after some seconds. */
  readonly waiting: readonly string[]
}

export const longFiles: LongFiles = JSON.parse(readFileSync(new URL('./long-files.json', import.meta.url), 'utf8'))

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

/** Runs `work` on each item, beginning in their order, so many at once. */
export async function runAll<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const place = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, place))
}
