import {
  appendFileSync,
  chownSync,
  copyFileSync,
  type Dirent,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/**
 * Copies the data folder of a running PostgreSQL, as pg_basebackup does, which is not on every machine. `recoverCopy` then
 * says how a server that starts on the copy comes to a consistent state.
 */
export async function takeBaseBackup({
  url,
  data,
  copy,
  log,
}: {
  /** Of the superuser. */
  readonly url: string
  readonly data: string
  readonly copy: string
  /** Where the log that the copy needs is: in the copy, or in the server's archive. */
  readonly log: 'copied' | 'archived'
}): Promise<void> {
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  try {
    await session.query("select pg_backup_start('copy', true)")
    copyFolder({ from: data, to: copy, leaveOut: ['postmaster.pid', 'postmaster.opts', 'pg_wal'] })
    // With an archive it ends when the whole log of the backup is in it.
    const { rows } = await session.query('select labelfile from pg_backup_stop($1)', [log === 'archived'])
    // After the end, so that the log holds all that happened while the files were copied.
    const [from, to] = [join(data, 'pg_wal'), join(copy, 'pg_wal')]
    if (log === 'copied') copyFolder({ from, to })
    else makeFolderLike({ from, to })
    writeOwned(copy, 'backup_label', rows[0].labelfile)
  } finally {
    await session.end()
  }
}

/**
 * A server that starts on the copy recovers as these settings say, and begins a new timeline at the end, or with `standby`
 * follows its primary.
 */
export function recoverCopy(
  copy: string,
  settings: Readonly<Record<string, string>>,
  as: 'recovery' | 'standby' = 'recovery',
): void {
  writeOwned(copy, `${as}.signal`, '')
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(copy, 'postgresql.auto.conf'), lines.join(''))
}

function writeOwned(folder: string, name: string, text: string): void {
  const { uid, gid } = statSync(folder)
  writeFileSync(join(folder, name), text)
  chownSync(join(folder, name), uid, gid)
}

interface FolderCopy {
  readonly from: string
  readonly to: string
  readonly leaveOut?: readonly string[]
}

function copyFolder({ from, to, leaveOut = [] }: FolderCopy): void {
  makeFolderLike({ from, to })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!leaveOut.includes(entry.name)) copyEntry(entry, { from: join(from, entry.name), to: join(to, entry.name) })
  }
}

function makeFolderLike({ from, to }: FolderCopy): void {
  const { uid, gid, mode } = statSync(from)
  mkdirSync(to, { mode })
  chownSync(to, uid, gid)
}

function copyFile({ from, to }: FolderCopy): void {
  copyFileSync(from, to)
  const { uid, gid } = statSync(from)
  chownSync(to, uid, gid)
}

function copyEntry(entry: Dirent, paths: FolderCopy): void {
  try {
    if (entry.isDirectory()) copyFolder(paths)
    else copyFile(paths)
  } catch (error) {
    // The server removes files while they are copied.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
