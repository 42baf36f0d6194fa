// proof: PostgreSQL is lost, and a copy of it is promoted.
// waits: for servers to recover and for real time-outs.

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl } from '@backoffice/dev-stack'
import { eventually, freePort, recoverCopy, takeBaseBackup } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { PostgresPart } from './backends.ts'
import { createOperators, type Operator } from './load.ts'
import { MoneyBed } from './money-bed.ts'
import { reconciliationProblems, untilSettled } from './oracle.ts'
import { Random } from './random.ts'
import { comeBack } from './run.ts'

/** How often PostgreSQL is lost. */
const rounds = Number(process.env.PROMOTIONS ?? 1)
if (rounds > 1) t.setTimeout(rounds * 300_000)

/**
 * In place of the lost server comes one that has not heard of the last commits, as an asynchronous standby that is
 * promoted. It is a copy that was taken under load: the stream to it ended there. A brand that the copy knows makes its
 * first deposit after it, so that what the copy has forgotten includes the account of a brand.
 */
t.test('a standby that had not heard of the last commits is promoted under the running services', async (t) => {
  const random = Random.of(t)
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-promoted-'))
  // PostgreSQL runs as somebody else.
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const options = { port: await freePort(), password: 'password-of-postgres', durable: 'process' } as const
  const folderOf = (round: number) => join(dir, String(round))
  let postgres = await PostgresPart.start({ ...options, dir: folderOf(0) })
  t.teardown(() => postgres.stop())
  const money = await MoneyBed.start(t, random, { postgresUrl: postgres.url })

  const problems: string[] = []
  let [lost, answered] = [0, 0]
  for (let round = 1; round <= rounds; round++) {
    const system = { team: money.team, baseUrls: [money.bed.services.gateway.addresses.baseUrl] }
    const choices = random.stream(`round ${round}`)
    const operators = await createOperators(t, system, choices, { named: `operator ${round}` })
    const [known, born] = operators as [Operator, Operator]
    const before = money.load(`known in ${round}`, [known])
    await money.answers(10, [known])
    const copy = folderOf(round)
    mkdirSync(copy)
    const copiedFrom = performance.now()
    await takeBaseBackup({
      url: postgres.url,
      data: join(folderOf(round - 1), 'data'),
      copy: join(copy, 'data'),
      log: 'copied',
    })
    recoverCopy(join(copy, 'data'), { restore_command: 'false' })
    const after = money.load(`born in ${round}`, [born])
    await money.answers(25, operators)
    await postgres.stop()
    postgres = await PostgresPart.start({ ...options, dir: copy })
    // Clients that wait send their requests again, to services that have gone on. Then there are new players.
    await Promise.all([before.stop(), after.stop()])
    const anew = money.load(`anew in ${round}`, operators)
    await money.answers(25, operators)
    await anew.stop()
    await comeBack(operators, choices)

    await untilSettled(money)
    const left = await reconciliationProblems(money)
    const has = await idsIn(money)
    const had = await idsInFolder({ ...options, dir: folderOf(round - 1), port: await freePort() }, money)
    rmSync(folderOf(round - 1), { recursive: true })
    const missing = answeredRecords(operators).filter(({ id }) => !has.has(id))
    const unexplained = missing.filter(({ answeredAt }) => answeredAt < copiedFrom)
    const invented = missing.filter(({ id }) => !had.has(id))
    const strange = await strangeTransfers(money)
    problems.push(
      ...left.map(({ text }) => text),
      ...unexplained.map(({ id }) => `${id} was answered before the copy was taken, and is lost`),
      ...invented.map(({ id }) => `${id} was answered, and the lost server has not heard of it either`),
      ...strange.map((id) => `${id} is between accounts that do not belong together`),
    )
    lost += missing.length
    answered += answeredRecords(operators).length
    t.comment(
      `promotion ${round}: ${missing.length} of ${answeredRecords(operators).length} records lost, ${problems.length} problems`,
    )
  }
  t.same(problems, [])
  t.ok(lost > 0 && lost < answered, `${lost} of ${answered} were lost`)
})

const answeredRecords = (operators: readonly Operator[]) =>
  operators
    .flatMap(({ players }) => players)
    .flatMap(({ history }) => history)
    .flatMap(({ call, answer, returnedAt }) =>
      answer?.kind === 'record' && (call.kind === 'createDeposit' || call.kind === 'requestWithdrawal')
        ? [{ id: answer.id, answeredAt: returnedAt }]
        : [],
    )

/** The records that the server of a folder had when it was lost. */
async function idsInFolder(
  options: Parameters<typeof PostgresPart.start>[0],
  { sql }: MoneyBed,
): Promise<ReadonlySet<string>> {
  const lost = await PostgresPart.start(options)
  try {
    const { rows } = await sql.query<{ name: string }>('select current_database() as name')
    const pool = new pg.Pool({ connectionString: databaseUrl(lost.url, rows[0]?.name ?? ''), max: 1 })
    try {
      return await idsIn({ sql: pool })
    } finally {
      await pool.end()
    }
  } finally {
    await lost.stop()
  }
}

async function idsIn({ sql }: Pick<MoneyBed, 'sql'>): Promise<ReadonlySet<string>> {
  const { rows } = await eventually(() =>
    sql.query<{ id: string }>('select id from payments.deposit union all select id from payments.withdrawal'),
  )
  return new Set(rows.map(({ id }) => id))
}

/** Transfers and entries whose accounts are not those of their brand, type and currency. */
async function strangeTransfers({ sql }: MoneyBed): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string }>(`
    select t.id from wallet.transfer t
    left join wallet.account d on d.id = t.debit_account left join wallet.account c on c.id = t.credit_account
    left join payments.deposit r on r.id = t.reference left join payments.withdrawal w on w.id = t.reference
    where (d.brand_id = t.brand_id and c.brand_id = t.brand_id and d.currency = c.currency
      and coalesce(r.player_id, w.player_id) = coalesce(d.owner_id, c.owner_id)
      and case t.type when 'DEPOSIT' then d.kind = 'deposits' and c.kind = 'player'
        else d.kind = 'player' and c.kind = 'withdrawals' end) is not true
      or exists (
        select from wallet.entry e where e.transfer_id = t.id and e.account_id not in (t.debit_account, t.credit_account)
      )
  `)
  return rows.map(({ id }) => id)
}
