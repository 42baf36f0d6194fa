import { chownSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresOptions, type RunningPostgres, startPostgres } from '@backoffice/local-stack'
import { eventually, recoverCopy, takeBaseBackup } from '@backoffice/test-kit'
import pg from 'pg'

type Options = Pick<PostgresOptions, 'port' | 'password' | 'durable'>

/** A PostgreSQL that sends its log to an archive, and what a restore needs: a base backup, and that archive. */
export class ArchivingPostgres {
  readonly #dir: string
  readonly #options: Options
  #running: RunningPostgres

  private constructor(dir: string, options: Options, running: RunningPostgres) {
    this.#dir = dir
    this.#options = options
    this.#running = running
  }

  /** @param dir may be entered by everybody, because PostgreSQL runs as somebody else */
  static async start(dir: string, port: number): Promise<ArchivingPostgres> {
    const options = { port, password: 'password-of-postgres', durable: 'process' } as const
    const first = await startPostgres({ ...options, dir: join(dir, 'lost') })
    const archive = join(dir, 'archive')
    mkdirSync(archive)
    const { uid, gid } = statSync(join(dir, 'lost/data'))
    chownSync(archive, uid, gid)
    await query(first.url, "alter system set archive_mode = 'on'")
    await query(first.url, `alter system set archive_command = 'test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"'`)
    // The mode is read at the start only.
    await first.child.stop()
    return new ArchivingPostgres(dir, options, await startPostgres({ ...options, dir: join(dir, 'lost') }))
  }

  /** Of the superuser; the restored server has the same. */
  get url(): string {
    return this.#running.url
  }

  async takeBackup(): Promise<void> {
    mkdirSync(join(this.#dir, 'restored'))
    const [data, copy] = [join(this.#dir, 'lost/data'), join(this.#dir, 'restored/data')]
    await takeBaseBackup({ url: this.url, data, copy, log: 'archived' })
  }

  /** Waits until all that is committed by now is in the archive. */
  async archiveAll(): Promise<void> {
    const { file } = await query(this.url, 'select pg_walfile_name(pg_switch_wal()) as file')
    await eventually(async () => {
      const { archived } = await query(this.url, 'select last_archived_wal as archived from pg_stat_archiver')
      return archived !== null && archived >= file
    })
  }

  /** The server and its disks are gone. */
  async lose(): Promise<void> {
    await this.#running.child.stop()
    rmSync(join(this.#dir, 'lost'), { recursive: true })
  }

  /** From the base backup and the archive, up to the last commit that is not after the moment. */
  async restoreTo(moment: Date): Promise<void> {
    recoverCopy(join(this.#dir, 'restored/data'), {
      restore_command: `cp "${join(this.#dir, 'archive')}/%f" "%p"`,
      // PostgreSQL takes no Z here.
      recovery_target_time: moment.toISOString().replace('Z', '+00'),
      recovery_target_action: 'promote',
      // A new server must not write into the archive of the old one.
      archive_mode: 'off',
    })
    this.#running = await startPostgres({ ...this.#options, dir: join(this.#dir, 'restored') })
    await eventually(async () => !(await query(this.url, 'select pg_is_in_recovery() as going_on')).going_on)
  }

  async stop(): Promise<void> {
    await this.#running.child.stop()
  }
}

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows[0]
  } finally {
    await client.end()
  }
}
