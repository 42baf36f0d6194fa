import { Loop, type ServiceContext } from '@backoffice/service-runtime'
import { lastExportAt, writeHeads } from '../heads/head-files.ts'
import { listHeadsSince } from '../storage/heads.ts'

const pageMax = 10_000
/** Longer than a transaction can last, so that what was being written during one export is in the next. */
const overlapMs = 60_000

/**
 * Writes the heads of the chains that have moved since the last export to a folder outside the database. Somebody who
 * cuts off the end of a chain in the database cannot change them there.
 * @returns how many heads were written
 */
export async function exportHeads({ db, clock }: Pick<ServiceContext, 'db' | 'clock'>, dir: string): Promise<number> {
  const at = clock.now()
  const last = await lastExportAt(dir)
  const since = new Date(last === null ? 0 : last.getTime() - overlapMs)
  async function* pages() {
    let after = '0'
    for (;;) {
      const page = await listHeadsSince(db.reader, { since, after, limit: pageMax })
      yield page
      if (page.length < pageMax) return
      after = page.at(-1)?.accountId ?? after
    }
  }
  return writeHeads(dir, at, pages())
}

export const headsExport = (
  context: Pick<ServiceContext, 'db' | 'clock' | 'log'>,
  { dir, everyMs }: { readonly dir: string; readonly everyMs: number },
): Loop =>
  new Loop({
    name: 'export of heads',
    log: context.log,
    everyMs,
    run: async () => {
      await exportHeads(context, dir)
    },
  })
