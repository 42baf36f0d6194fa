import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Head } from '../storage/heads.ts'
import { isUndone, type Restore, restoreFrom } from './restore.ts'

// The time first, so that names sort by it; then a random part, since replicas may write to one folder.
const nameOf = (at: Date) => `heads-${at.toISOString().replaceAll(':', '-')}-${randomUUID()}.ndjson`
const timeIn = /^heads-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)-/

/** Each begins in another way than an export, so that a release which does not know it passes over it. */
const restoreName = /^restore-.*\.json$/

/** When an export was taken. */
function takenAt(name: string): Date {
  const [, day, hour, minute, rest] = timeIn.exec(name) ?? []
  return new Date(`${day}${hour}:${minute}:${rest}`)
}

/** The names of the exports in a folder that are of the database as it is now, oldest first. */
async function exportsIn(dir: string): Promise<string[]> {
  await mkdir(dir, { recursive: true })
  const names = await readdir(dir)
  const restores = await readRestores(dir, names)
  return names
    .filter((name) => timeIn.test(name) && name.endsWith('.ndjson') && !isUndone(takenAt(name), restores))
    .sort()
}

/** When the newest export of a folder was taken; null in an empty one. Those that a restore undid do not count. */
export async function lastExportAt(dir: string): Promise<Date | null> {
  const newest = (await exportsIn(dir)).at(-1)
  return newest === undefined ? null : takenAt(newest)
}

/** Every restore that was recorded in a folder. */
export async function listRestores(dir: string): Promise<Restore[]> {
  await mkdir(dir, { recursive: true })
  return readRestores(dir, await readdir(dir))
}

async function readRestores(dir: string, names: readonly string[]): Promise<Restore[]> {
  const texts = names.filter((name) => restoreName.test(name)).map((name) => readFile(join(dir, name), 'utf8'))
  return (await Promise.all(texts)).map(restoreFrom)
}

/** Writes down a restore, beside the exports. It appears under its name only when it is complete and on disk. */
export async function writeRestore(dir: string, restore: Restore): Promise<void> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, `restore-${restore.recordedAt.toISOString().replaceAll(':', '-')}-${randomUUID()}.json`)
  await writeFile(`${path}.part`, `${JSON.stringify(restore)}\n`, { flag: 'wx', mode: 0o440, flush: true })
  await rename(`${path}.part`, path)
}

/**
 * Writes one export: a JSON document a line. It appears under its name only when it is complete and on disk.
 * @returns how many heads it has; with none there is no file
 */
export async function writeHeads(dir: string, at: Date, pages: AsyncIterable<readonly Head[]>): Promise<number> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, nameOf(at))
  let count = 0
  let file: Awaited<ReturnType<typeof open>> | undefined
  try {
    for await (const page of pages) {
      if (page.length === 0) continue
      file ??= await open(`${path}.part`, 'wx', 0o440)
      await file.write(page.map((head) => `${JSON.stringify(head)}\n`).join(''))
      count += page.length
    }
    await file?.sync()
  } finally {
    await file?.close()
  }
  if (count > 0) await rename(`${path}.part`, path)
  return count
}

/** The newest exported head of each account. Through the chain it stands for all entries before it. */
export async function readNewestHeads(dir: string): Promise<Map<string, Head>> {
  const newest = new Map<string, Head>()
  for (const name of await exportsIn(dir)) {
    const lines = createInterface({ input: createReadStream(join(dir, name)), crlfDelay: Number.POSITIVE_INFINITY })
    for await (const line of lines) {
      const head = JSON.parse(line) as Head
      if (BigInt(head.seq) >= BigInt(newest.get(head.accountId)?.seq ?? 0)) newest.set(head.accountId, head)
    }
  }
  return newest
}
