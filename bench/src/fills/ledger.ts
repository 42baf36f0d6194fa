import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Subject } from '../stack/subject.ts'

const statements = fileURLToPath(new URL('./ledger.sql', import.meta.url))

/** The account with a tenth of all entries, and the one with a thousandth. */
export const filledPlayers = { large: playerOf('large'), small: playerOf('small') } as const

function playerOf(name: string): string {
  return `ply_0filled${name.padStart(19, '0')}`
}

/** Fills the ledger with SQL as the superuser, because it would take hours through the wallet. */
export async function fillLedger(subject: Subject, rows: number): Promise<void> {
  const { brandId, currency } = subject.scope
  await subject.withSql(async (client) => {
    await client.query('begin')
    const settings = {
      'bench.brand': brandId,
      'bench.currency': currency,
      'bench.rows': String(rows),
      work_mem: '256MB',
    }
    for (const [name, value] of Object.entries(settings))
      await client.query('select set_config($1, $2, true)', [name, value])
    await client.query(readFileSync(statements, 'utf8'))
    await client.query('commit')
    await client.query('vacuum analyze wallet.transfer, wallet.entry, wallet.account, wallet.audit_entry')
    await client.query('checkpoint')
  })
}
