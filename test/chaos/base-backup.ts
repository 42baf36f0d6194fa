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
 * Copies the data folder of a running PostgreSQL, as pg_basebackup does, which is not on every machine. A server that
 * starts on the copy recovers up to the end of the log in it, and begins a new timeline there.
 */
export async function takeBaseBackup({
  url,
  data,
  copy,
}: {
  /** Of the superuser. */
  readonly url: string
  readonly data: string
  readonly copy: string
}): Promise<void> {
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  try {
    await session.query("select pg_backup_start('copy', true)")
    const owner = statSync(data)
    copyFolder({ from: data, to: copy, leaveOut: ['postmaster.pid', 'postmaster.opts', 'pg_wal'] })
    const { rows } = await session.query('select labelfile from pg_backup_stop(false)')
    // After the end, so that the log holds all that happened while the files were copied.
    copyFolder({ from: join(data, 'pg_wal'), to: join(copy, 'pg_wal') })
    const write = (name: string, text: string) => {
      writeFileSync(join(copy, name), text)
      chownSync(join(copy, name), owner.uid, owner.gid)
    }
    write('backup_label', rows[0].labelfile)
    write('recovery.signal', '')
    // There is no archive: the whole log is in the copy.
    appendFileSync(join(copy, 'postgresql.auto.conf'), "restore_command = 'false'\n")
  } finally {
    await session.end()
  }
}

interface FolderCopy {
  readonly from: string
  readonly to: string
  readonly leaveOut?: readonly string[]
}

function copyFolder({ from, to, leaveOut = [] }: FolderCopy): void {
  const { uid, gid, mode } = statSync(from)
  mkdirSync(to, { mode })
  chownSync(to, uid, gid)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!leaveOut.includes(entry.name)) copyEntry(entry, { from: join(from, entry.name), to: join(to, entry.name) })
  }
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
