import { sql } from '@backoffice/service-runtime'
import { postgres } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { entryHash as hashOfWriter } from '../../../wallet/src/ledger/decide.ts'
import { hashOfEntry } from '../../src/checks/chain-rows.ts'
import { entryHash } from '../../src/checks/hash-chain.ts'
import { Snapshots } from '../../src/storage/snapshots.ts'

const { signal } = new AbortController()
const snapshots = await Snapshots.connect(await postgres(), { statementMsMax: 60_000, signal })
t.teardown(() => snapshots.close())

// PostgreSQL keeps no zero byte and no half of a character.
const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll('\0', ''))
const number = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const date = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
const maybe = fc.option(text, { nil: null })
const rows = fc.record({
  previous: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
  entry: fc.record({ accountId: number, seq: number, amount: number, balance: number }),
  transfer: fc.record({
    ...{ id: text, brandId: text, reference: text, outcome: text, reverses: maybe, reason: maybe },
    ...{ type: fc.constantFrom('DEPOSIT' as const, 'WITHDRAWAL' as const, 'ADJUSTMENT' as const, 'REVERSAL' as const) },
    ...{ debitAccount: number, creditAccount: number, amount: number, effectiveAt: date, createdAt: date },
  }),
})

t.test('who writes an entry, who judges it and PostgreSQL compute one hash, whatever it holds', async (t) => {
  const drawn = fc.sample(rows, { seed: Number(process.env.HASH_SEED ?? 2_611), numRuns: 300 })
  const sent = drawn.map(({ previous, entry, transfer }, n) => ({
    ...{ n, before: `\\x${previous.toString('hex')}`, ...entry, ...transfer, ofTransfer: transfer.amount },
    amount: entry.amount,
  }))
  const json = JSON.stringify(sent, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
  const found = await snapshots.see(
    (db) => db<{ hash: Buffer }>`
      with r as (
        select * from json_to_recordset(${json}::json) as r (
          n int, before bytea, "accountId" bigint, seq bigint, amount bigint, balance bigint, id text, "brandId" text,
          reference text, type text, "debitAccount" bigint, "creditAccount" bigint, "ofTransfer" bigint, outcome text,
          reverses text, reason text, "effectiveAt" timestamptz, "createdAt" timestamptz
        )
      )
      select ${hashOfEntry(sql`r.before`)} as hash from r
      cross join lateral (select r."accountId" as account_id, r.seq, r.amount, r.balance) e
      cross join lateral (
        select r.id, r."brandId" as brand_id, r.reference, r.type, r."debitAccount" as debit_account,
          r."creditAccount" as credit_account, r."ofTransfer" as amount, r.outcome, r.reverses, r.reason,
          r."effectiveAt" as effective_at, r."createdAt" as created_at
      ) t
      order by r.n
    `,
  )
  const judged = drawn.map(({ previous, entry, transfer }) => entryHash(previous, entry, transfer).toString('hex'))
  const written = drawn.map(({ previous, entry, transfer }) =>
    hashOfWriter(previous, entry, transfer as Parameters<typeof hashOfWriter>[2]).toString('hex'),
  )
  t.same(judged, written)
  t.same(
    found.map(({ hash }) => hash.toString('hex')),
    written,
  )
})
