import { readFileSync } from 'node:fs'
import type { Subject } from './stack/subject.ts'

/** Over so many connections a large ledger is filled: one statement keeps one core busy. */
const fillsAtOnce = 2
export const depositsOfPlayer = 100

/** One of those whom `fillDeposits` made, numbered from 0. */
export const filledPlayer = (number: number): string =>
  `ply_0credited${number % fillsAtOnce}${String(1 + Math.floor(number / fillsAtOnce)).padStart(16, '0')}`

/**
 * Fills the ledger with deposits that were confirmed long ago, a hundred of each player: with SQL as the superuser,
 * because it would take hours through the services.
 */
export async function fillDeposits(subject: Subject, rows: number): Promise<void> {
  const { brandId, operatorId, currency } = subject.scope
  const fill = (statement: string, part = 0, othersAreDone: () => Promise<unknown> = async () => {}) =>
    subject.withSql(async (client) => {
      await client.query('begin')
      const settings = {
        ...{ 'bench.brand': brandId, 'bench.operator': operatorId, 'bench.currency': currency },
        ...{ 'bench.rows': String(Math.ceil(rows / fillsAtOnce)), 'bench.part': String(part) },
        // No trigger speaks: each would look at each row.
        ...{ work_mem: '256MB', session_replication_role: 'replica' },
      }
      for (const [name, value] of Object.entries(settings))
        await client.query('select set_config($1, $2, true)', [name, value])
      await client.query(statement)
      await othersAreDone()
      await client.query('commit')
    })
  // Each page of a system account's entries is of whole transactions: so there must be some.
  await subject.withSql((client) =>
    client.query('do $$ begin for n in 1..100000 loop perform pg_current_xact_id(); commit; end loop; end $$'),
  )
  // Once for all parts: each would wait until the other has ended.
  await fill(`insert into wallet.account (brand_id, kind, currency, genesis, head, created_at, updated_at)
    values (current_setting('bench.brand'), 'deposits', current_setting('bench.currency'), '', '', now(), now())
    on conflict do nothing`)
  const deposits = readFileSync(new URL('./deposits.sql', import.meta.url), 'utf8')
  // Together: their transactions are of the past, and between two ends the wallet might add up the half.
  let unfinished = fillsAtOnce
  const all = Promise.withResolvers<void>()
  const othersAreDone = () => {
    unfinished -= 1
    if (unfinished === 0) all.resolve()
    return all.promise
  }
  const parts = Array.from({ length: fillsAtOnce }, (_, part) => fill(deposits, part, othersAreDone))
  // Nobody waits for a part that has failed.
  for (const part of parts) part.catch(all.reject)
  await Promise.all([...parts, all.promise])
  await subject.withSql(async (client) => {
    await client.query('vacuum analyze')
    await client.query('checkpoint')
  })
}
