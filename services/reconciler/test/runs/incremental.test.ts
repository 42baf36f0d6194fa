import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { dayMs, firstId, newId } from '@backoffice/process'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { Ledger } from '../../../wallet/src/ledger/ledger.ts'
import type { HeadStore } from '../../src/heads/store.ts'
import type { ReconcileOptions } from '../../src/reconciliation/reconcile.ts'
import { ended, ledgerBed, quietDatabase, runOf, behindItsBack as tamper, type Writer } from './run.ts'

const bed = await ledgerBed(t, { config: { wallet: { CHECKPOINT_EVERY_MS: 3_600_000 } } })
const writer: Writer = {
  admin: bed.sql('admin'),
  ledger: new Ledger({ db: bed.services.wallet.db }),
}
const { admin } = writer
const yesterday = new Date(Date.now() - dayMs)

const incremental = (options: Partial<ReconcileOptions> = {}) => runOf(bed, { isFull: false, ...options })
const full = () => runOf(bed)

/** The ids of one moment are told apart by their ends. */
const idOf = (prefix: 'dep' | 'trf' | 'evt', at: Date) => {
  const id = newId(prefix)
  return `${firstId(prefix, at).slice(0, -12)}${id.slice(-12)}`
}

/** A brand of its own, with deposits that were confirmed and credited, by default a day ago. */
function brand() {
  const scope = bed.scope({ brandId: newId('brd') })
  const { brandId } = scope
  const playerId = newId('ply')
  return {
    brandId,
    playerId,
    async deposit({ at = yesterday, of = playerId, by: { admin, ledger } = writer } = {}): Promise<string> {
      const id = idOf('dep', at)
      await admin.query(
        `with deposit as (
          insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
            currency, method, status, version, created_at, confirmed_at)
          values ($1, $2, 'op', 'production', 'UTC', $3, $1, 500, 'BRL', 'pix', 'confirmed', 2, $4, $4)
        )
        insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
        values ($1, 1, null, 'pending', $4, 'operator', 'op', $1), ($1, 2, 'pending', 'confirmed', $4, 'operator', 'op', $1)`,
        [id, brandId, of, at],
      )
      const event = {
        ...{ type: 'deposit.confirmed', brandId, environment: 'production' },
        data: { id, playerId: of, status: 'confirmed', amount: '5.00', version: 2 },
      }
      await admin.query('insert into payments.published_event (id, message, published_at) values ($1, $2, $3)', [
        idOf('evt', at),
        JSON.stringify({ event }),
        at,
      ])
      await ledger.post({
        ...{ kind: 'credit', type: 'DEPOSIT', counterparty: 'deposits', reference: id, amount: 500n },
        ...{ brandId, playerId: of, currency: 'BRL', transferId: idOf('trf', at), effectiveAt: at },
      })
      return id
    },
    /** The checks that name this brand, in the order of the report. */
    foundIn: ({ differences }: ReconciliationReport) => [
      ...new Set(differences.filter((found) => found.brandId === brandId).map(({ check }) => check)),
    ],
  }
}

const behindItsBack = (statement: string, values: readonly unknown[]) => tamper(admin, statement, values)

const editReason = (reference: string, reason: string | null) =>
  behindItsBack('update wallet.transfer set reason = $2 where reference = $1', [reference, reason])

/** Runs until everything entered so far belongs to transactions that have ended: those of other tests may last. */
async function fullUpTo(playerId: string): Promise<void> {
  await eventually(async () => {
    await full()
    const { rows } = await admin.query(
      `select from wallet.account a join reconciler.account_checkpoint c on c.account_id = a.id and c.entries = a.seq
      where a.owner_id = $1`,
      [playerId],
    )
    return rows.length === 1
  })
}

t.test('the first run is full, and so is each run that is asked for without saying more', async (t) => {
  t.match(await incremental(), { kind: 'full', differences: [] })
  t.match(await incremental(), { kind: 'incremental', differences: [] })
  const alice = bed.team('alice')
  for (const [input, kind] of [
    [{}, 'full'],
    [{ full: true }, 'full'],
    [{ full: false }, 'incremental'],
  ] as const) {
    const { runId } = await alice.call(operations.reconciler.reconcileWallet, { input })
    const { rows } = await admin.query('select is_full from reconciler.reconciliation where id = $1', [runId])
    t.equal(rows[0].is_full, kind === 'full')
  }
})

t.test('an old entry that was changed is found by the full run, and reported until it is mended', async (t) => {
  const { playerId, deposit, foundIn } = brand()
  const [, victim] = [await deposit(), await deposit(), await deposit()]
  await fullUpTo(playerId)
  await editReason(victim, 'another')
  t.same(foundIn(await incremental()), [], 'nobody has touched the account since')
  // Its ids are of yesterday, so it is looked at once, for its transaction.
  await deposit()
  await ended(admin)
  t.same(foundIn(await incremental()), [], 'the checkpoint is after the entry')
  t.same(foundIn(await full()), ['chains'])
  t.same(foundIn(await incremental()), ['chains'])
  t.same(foundIn(await incremental()), ['chains'], 'until somebody mends it')
  await editReason(victim, null)
  t.same(foundIn(await incremental()), [])
})

t.test('an old deposit that is confirmed now is held against its credit', async (t) => {
  const { playerId, deposit, foundIn } = brand()
  const id = await deposit()
  await fullUpTo(playerId)
  await behindItsBack(
    "update payments.deposit set status = 'pending', confirmed_at = null, version = 1 where id = $1",
    [id],
  )
  t.same(foundIn(await incremental()), [], 'nothing was entered that is about it')
  await behindItsBack(
    "update payments.published_event set published_at = now() where message #>> '{event,data,id}' = $1",
    [id],
  )
  t.same(foundIn(await incremental()), ['deposits', 'histories'])
})

t.test('a checkpoint that is not on the chain is found, and the chain is followed from its first entry', async (t) => {
  for (const forgery of [
    "update reconciler.account_checkpoint set hash = sha256('forged') where account_id = $1",
    'update reconciler.account_checkpoint set balance = balance + 1 where account_id = $1',
    'update reconciler.account_checkpoint set entries = entries + 1 where account_id = $1',
  ]) {
    const { playerId, deposit, foundIn } = brand()
    const victim = await deposit()
    await deposit()
    await fullUpTo(playerId)
    const { rows } = await admin.query('select id from wallet.account where owner_id = $1', [playerId])
    await behindItsBack(forgery, [rows[0].id])
    await editReason(victim, 'another')
    await deposit({ at: new Date() })
    t.same(foundIn(await incremental()), ['chains', 'checkpoints'], forgery)
    await editReason(victim, null)
    t.same(foundIn(await incremental()), [], 'the checkpoint was written anew')
  }
})

t.test('a checkpoint that was moved over entries that no run has seen is found', async (t) => {
  const { playerId, deposit, foundIn } = brand()
  await deposit()
  await fullUpTo(playerId)
  await editReason(await deposit({ at: new Date() }), 'another')
  await behindItsBack(
    `update reconciler.account_checkpoint c set entries = e.seq, balance = e.balance, hash = e.hash
    from wallet.account a join wallet.entry e on e.account_id = a.id and e.seq = a.seq
    where a.id = c.account_id and a.owner_id = $1`,
    [playerId],
  )
  t.same(foundIn(await incremental()), ['chains', 'checkpoints'])
})

t.test('a forged sum of a system account is found', async (t) => {
  const { playerId, brandId, deposit, foundIn } = brand()
  await deposit()
  await fullUpTo(playerId)
  const forge = (by: number) =>
    behindItsBack(
      `insert into wallet.system_checkpoint (account_id, below, balance, entries, taken_at)
      select c.account_id, c.below, c.balance + $2, c.entries, now() from reconciler.account_checkpoint c
      join wallet.account a on a.id = c.account_id where a.brand_id = $1 and a.kind = 'deposits'
      on conflict (account_id) do update set balance = excluded.balance`,
      [brandId, by],
    )
  await forge(1)
  t.same(foundIn(await incremental()), ['checkpoints'])
  t.same(foundIn(await full()), ['checkpoints'])
  await forge(0)
  t.same(foundIn(await incremental()), [])
})

t.test('what a run has written that died is not believed', async (t) => {
  const { playerId, deposit, foundIn } = brand()
  const victim = await deposit()
  await deposit()
  await fullUpTo(playerId)
  await deposit({ at: new Date() })
  const death = new AbortController()
  const dying = incremental({
    signal: death.signal,
    progress: ({ check }) => {
      if (check === 'chains') death.abort()
    },
  })
  await t.rejects(dying)
  // It has ended after it wrote the checkpoint and before it ended. It is as if it had written something wrong.
  await behindItsBack(
    `update reconciler.account_checkpoint c set hash = sha256('wrong'), below = k.below::text::numeric::text::xid8
    from wallet.account a, (select pg_snapshot_xmax(pg_current_snapshot()) as below) k
    where a.id = c.account_id and a.owner_id = $1`,
    [playerId],
  )
  t.same(foundIn(await incremental()), [])
  await deposit({ at: new Date() })
  await editReason(victim, 'another')
  t.same(foundIn(await incremental()), [], 'and was replaced')
})

t.test('between two snapshots nothing is locked and no snapshot is kept', async (t) => {
  const { deposit } = brand()
  await deposit()
  let looks = 0
  const kept: unknown[] = []
  const store: HeadStore = {
    put: async () => true,
    async list(prefix) {
      // A migration of the next release, in the middle of the run.
      await admin.query("set lock_timeout = '10s'; alter table wallet.entry add column if not exists note text")
      const { rows } = await admin.query(
        `select query from pg_stat_activity where application_name = 'reconciler' and datname = current_database()
          and state = 'idle in transaction' and backend_xmin is not null`,
      )
      looks += 1
      kept.push(...rows)
      return prefix.startsWith('delta') ? ['delta/2026-03-02T12-00-00.000Z-000001-last.ndjson'] : []
    },
    async *read() {
      await this.list('delta/', '')
      yield ''
    },
  }
  const heads = { store, everyMs: 60_000 }
  await runOf(bed, { heads })
  t.ok(looks >= 3)
  t.same(kept, [])
  await admin.query('alter table wallet.entry drop column note')
})

t.test('an incremental run reads what was entered lately, however large the ledger is', async (t) => {
  const { analyze, blocksOf, write } = await quietDatabase(t)
  const { deposit } = brand()
  const others = Array.from({ length: 50 }, () => newId('ply'))
  const fill = (rounds: number) =>
    write(async (by) => {
      for (let round = 0; round < rounds; round++) await Promise.all(others.map((of) => deposit({ of, by })))
    })
  const hour = async () => {
    await write((by) => Promise.all(others.slice(0, 5).map((of) => deposit({ of, by }))))
    return blocksOf(false)
  }
  const measure = async (rounds: number) => {
    await fill(rounds)
    await analyze()
    const full = await blocksOf(true)
    return { full, hour: await hour() }
  }
  const [small, large] = [await measure(1), await measure(9)]
  t.comment(JSON.stringify({ small, large }))
  t.ok(large.full > 4 * small.full, 'the full run reads the ledger')
  t.ok(large.hour < 2 * small.hour, 'the incremental one does not')
})
