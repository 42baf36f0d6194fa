// proof: PostgreSQL is lost, and a copy of it is promoted.
// waits: for servers to recover and for real time-outs.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { operations } from '@backoffice/contracts'
import { databaseUrl } from '@backoffice/local-stack'
import {
  eventually,
  freePort,
  recoverCopy,
  replyWith,
  startReceiver,
  type Teardown,
  takeBaseBackup,
  temporaryFolder,
} from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { PlayHouse } from '../play/house.ts'
import { PostgresPart } from './backends.ts'
import { createOperators, type Operator } from './load.ts'
import { reconciliationProblems, untilSettled } from './oracle.ts'
import { Random } from './random.ts'
import { comeBack, MoneyBed } from './run.ts'

const random = Random.of(t)
const dir = temporaryFolder(t)
type State = 'first' | 'promoted'
const folderOf = (state: State) => join(dir, state)
const options = { port: await freePort(), password: 'password-of-postgres', durable: 'process' } as const
let postgres = await PostgresPart.start({ ...options, dir: folderOf('first') })
t.teardown(() => postgres.stop())
const money = await MoneyBed.start(t, random, { postgresUrl: postgres.url })

/** While it is in use, a copy that ends where the stream of its log does: there is no archive. */
async function takeCopy(): Promise<void> {
  mkdirSync(folderOf('promoted'))
  const copy = join(folderOf('promoted'), 'data')
  await takeBaseBackup({ url: postgres.url, data: join(folderOf('first'), 'data'), copy, log: 'copied' })
  recoverCopy(copy, { restore_command: 'false' })
}

/**
 * In place of the lost server comes one that has not heard of the last commits, as an asynchronous standby that is
 * promoted. It is a copy that was taken under load: the stream to it ended there. A brand that the copy knows makes its
 * first deposit after it, so that what the copy has forgotten includes the account of a brand. NATS does not go back:
 * the stream holds events of a future that never was, and consumers have acknowledged them.
 */
t.test('a standby that had not heard of the last commits is promoted under the running services', async (t) => {
  const system = { team: money.team, baseUrls: [money.bed.services.gateway.addresses.baseUrl] }
  const choices = random.stream('promotion')
  const operators = await createOperators(t, system, choices, { named: 'promoted' })
  const [known, born] = operators as [Operator, Operator]
  const before = money.load('known', [known])
  await money.answers(10, [known])
  const play = await playsOf(t, money)
  t.match(await play.bet('kept', '10.00'), { replayed: false, balance: '90.00' })
  const copiedFrom = performance.now()
  await takeCopy()
  const after = money.load('born', [born])
  await money.answers(25, operators)
  await play.win('kept', '5.00')
  await play.bet('lost', '20.00')
  await play.win('lost', '50.00')
  await play.bet('back', '3.00')
  t.match(await play.rollback('back'), { applied: true, balance: '125.00' })
  await postgres.stop()
  postgres = await PostgresPart.start({ ...options, dir: folderOf('promoted') })
  // Clients that wait send their requests again, to services that have gone on. Then there are new players.
  await Promise.all([before.stop(), after.stop()])
  const anew = money.load('anew', operators)
  await money.answers(25, operators)
  await anew.stop()
  await comeBack(operators, choices)
  await t.test(
    'B47 its provider sends again what it holds, and each transaction is done once more, or stays undone',
    async (t) => {
      t.match(await play.win('lost', '50.00'), { code: 'BET_NOT_FOUND', details: { retry: 'later' } })
      t.match(await play.rollback('back'), { applied: false, replayed: false, balance: '90.00' })
      t.match(await play.bet('back', '3.00'), { code: 'TRANSACTION_ROLLED_BACK' })
      t.match(await play.bet('kept', '10.00'), { replayed: true, balance: '90.00' })
      t.match(await play.win('kept', '5.00'), { replayed: false, balance: '95.00' })
      for (const replayed of [false, true]) {
        const balance = replayed ? '125.00' : '75.00'
        t.match(await play.bet('lost', '20.00'), { applied: true, replayed, balance })
        t.match(await play.win('lost', '50.00'), { applied: true, replayed, balance: '125.00' })
      }
    },
  )

  await untilSettled(money)
  t.same(await reconciliationProblems(money), [])
  t.same(await strangeTransfers(money), [], 'transfers between accounts that do not belong together')
  const has = await idsIn(money)
  const had = await idsInFolder({ ...options, dir: folderOf('first'), port: await freePort() }, money)
  const answered = answeredRecords(operators)
  const missing = answered.filter(({ id }) => !has.has(id))
  t.same(
    missing.filter(({ answeredAt }) => answeredAt < copiedFrom),
    [],
    'nothing is lost that was answered before the copy was taken',
  )
  t.same(
    missing.filter(({ id }) => !had.has(id)),
    [],
    'nothing was answered of which the lost server has not heard either',
  )
  t.ok(missing.length > 0 && missing.length < answered.length, `${missing.length} of ${answered.length} were lost`)

  await t.test('what was answered is answered again under its key, done again as a whole, or refused', async (t) => {
    const answers = new Set<number | string>()
    for (const { client, players } of operators)
      for (const { request, answer } of players.flatMap(({ history }) => history)) {
        if (answer === undefined || request.idempotencyKey === undefined) continue
        const { reply } = await client.ask(request, choices)
        answers.add((reply?.status === 403 && reply.body?.error?.code) || (reply?.status ?? 0))
      }
    // Some have a daily limit, and what is done anew may come in another order than before; the copy may have forgotten
    // who a player was, too.
    const refusals = ['RG_BLOCKED', 'KYC_NOT_APPROVED', 'PLAYER_NOT_ACTIVE']
    t.same(
      [...answers].filter((answer) => ![200, 201, 404, 409, 422, ...refusals].includes(answer)),
      [],
    )
    await untilSettled(money)
    t.same(await reconciliationProblems(money), [], 'none of it is done by half')
  })

  await t.test('every event of the copy and every new one is delivered', async (t) => {
    let confirmed = 0
    for (const { players, receiver } of operators) {
      const { rows } = await money.sql.query<{ id: string }>(
        "select id from payments.deposit where status = 'confirmed' and player_id = any($1)",
        [players.map(({ id }) => id)],
      )
      confirmed += rows.length
      const told = () => new Set([...receiver.events.values()].map(({ data }) => data.id))
      t.ok(await eventually(() => rows.every(({ id }) => told().has(id))))
    }
    // Of one operator all may be in the future that never was.
    t.ok(confirmed > 0)
  })
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

/** Transfers and entries whose accounts are not those of their brand, type and currency. Of play a reconciliation tells. */
async function strangeTransfers({ sql }: MoneyBed): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string }>(`
    select t.id from wallet.transfer t
    left join wallet.account d on d.id = t.debit_account left join wallet.account c on c.id = t.credit_account
    left join payments.deposit r on r.id = t.reference left join payments.withdrawal w on w.id = t.reference
    where t.reference not like 'pla\\_%' and ((d.brand_id = t.brand_id and c.brand_id = t.brand_id and d.currency = c.currency
      and coalesce(r.player_id, w.player_id) = coalesce(d.owner_id, c.owner_id)
      and case t.type when 'DEPOSIT' then d.kind = 'deposits' and c.kind = 'player'
        else d.kind = 'player' and c.kind = 'withdrawals' end) is not true
      or exists (
        select from wallet.entry e where e.transfer_id = t.id and e.account_id not in (t.debit_account, t.credit_account)
      ))
  `)
  return rows.map(({ id }) => id)
}

/** What a provider sends about one player who has 100.00: each transaction with a round and bytes of its own. */
async function playsOf(t: Teardown, { bed, sql }: MoneyBed) {
  const { baseUrl, providerUrl } = bed.services.gateway.addresses
  const house = await PlayHouse.open({ baseUrl, providerUrl, act: bed.agreed, sql })
  const { url } = await startReceiver(t, replyWith(204))
  const endpoint = {
    operatorId: house.operatorId,
    environment: 'sandbox',
    url,
    reason: 'its events are delivered',
  } as const
  await bed.agreed(operations.webhooks.setWebhookUrl, { input: endpoint })
  const { client, gameId } = await house.provider(t, 0)
  const [seat] = await house.seats(gameId, 1, '100.00')
  if (seat === undefined) throw new Error('nobody plays')
  const { playerId, currency } = seat
  const send = async (path: string, id: string, said: object) => {
    const json = JSON.stringify({ playerId, transactionId: id, roundId: id, ...said })
    return eventually(async () => {
      const answer = await client.post(path, json).catch(() => undefined)
      return answer !== undefined && answer.status < 500 && (answer.body.error ?? answer.body)
    })
  }
  return {
    bet: (id: string, amount: string) => send('/bets', id, { ...seat, amount }),
    win: (id: string, amount: string) => send('/wins', id, { currency, betTransactionId: id, amount }),
    rollback: (id: string) => send('/rollbacks', id, { betTransactionId: id }),
  }
}
