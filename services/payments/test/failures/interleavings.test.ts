import { Rejection, type ServiceName } from '@backoffice/contracts'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { type MoneyPath, moneyPath } from '../money-path.ts'
import { type Choose, Interleaver, preemptionsIn, type Turn } from './interleaver.ts'
import { violations } from './invariants.ts'
import { type Pair, Players, pairs } from './money-races.ts'

/** How often a call that could go on may have to wait for the other: all such orders of two calls are tried. */
const preemptionsMax = Number(process.env.PREEMPTIONS_MAX ?? 1)
t.setTimeout(preemptionsMax > 1 ? 3_600_000 : 230_000)

const interleaver = new Interleaver(2, async () => {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await path.bed.sql('admin').query({ name: 'locked', text })).rowCount ?? 0
})
/** A side has replicas and a broker of its own, so a call to a side runs there. Both share the database of the first. */
async function startSide(index: number, first?: MoneyPath): Promise<MoneyPath> {
  const shared = (name: ServiceName): Record<string, string> => {
    const url = first?.bed.environment(name).DATABASE_URL
    return url === undefined ? {} : { DATABASE_URL: url }
  }
  const config = {
    players: shared('players'),
    payments: shared('payments'),
    wallet: { CHECKPOINT_EVERY_MS: 3_600_000, ...shared('wallet') },
  }
  return moneyPath(t, { config, intercept: () => interleaver.intercept(index) })
}
const path: MoneyPath = await startSide(0)
const sides = [path, await startSide(1, path)]
const players = new Players(path)
const admin = path.bed.sql('admin')

interface Answer {
  /** `done`, or the code of a refusal. */
  readonly code: string
  /** What was said too early: the wallet had not done its part of what a refusal speaks of. */
  readonly early: readonly string[]
}

/** Any error but a refusal is the call's fault. */
async function answerOf(call: Promise<unknown>): Promise<Answer> {
  try {
    await call
    return { code: 'done', early: [] }
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    const { depositId, withdrawalId, status } = (error.details ?? {}) as Record<string, string>
    const text = `select name from payments.outbox where aggregate = $1 and kind = 'command'`
    const { rows } = await admin.query({ name: 'early', text, values: [depositId ?? withdrawalId] })
    return { code: error.code, early: rows.map(({ name }) => `${status}, before ${name}`) }
  }
}

const outboxesAreEmpty = () =>
  eventually(async () => {
    const text = `select from payments.outbox union all select from players.outbox`
    return (await admin.query({ name: 'unsent', text })).rowCount === 0
  })

/** One run: the outcomes of the calls, which rules the books break afterwards, and the turns. */
async function run(set: Pair['set'], choose: Choose) {
  const playerId = await players.next()
  const calls = await set({ path, playerId })
  await outboxesAreEmpty()
  const first: Promise<Answer>[] = []
  const turns = await interleaver.run(
    calls.map((call, index) => () => {
      const answer = answerOf(call(sides[index] as MoneyPath))
      first.push(answer)
      return answer
    }),
    choose,
  )
  const answers = await Promise.all(
    calls.map(async (call, index) => {
      const answer = (await first[index]) as Answer
      if (answer.code !== 'SERVICE_UNAVAILABLE') return answer
      // As an operator's server does it: an unknown outcome is asked for again.
      return eventually(async () => {
        const again = await answerOf(call(path))
        return again.code === 'SERVICE_UNAVAILABLE' ? false : again
      })
    }),
  )
  await outboxesAreEmpty()
  return {
    outcomes: answers.map(({ code }) => code).join(', '),
    broken: [...answers.flatMap(({ early }) => early), ...(await violations(admin, playerId))],
    turns,
  }
}

const orderOf = (turns: readonly Turn[]) => turns.map(({ chosen }) => chosen)

/** Follows an order, and then goes on with the call whose turn it was, as long as that can go on. */
const following =
  (order: readonly number[]): Choose =>
  (possible, turns) => {
    const wanted = [order[turns.length], turns.at(-1)?.chosen]
    return wanted.find((side) => side !== undefined && possible.includes(side)) ?? (possible[0] as number)
  }

/** The orders that differ from that of a run at one turn after its given beginning, and may be preempted as often. */
function othersThan(turns: readonly Turn[], beginning: number): number[][] {
  return turns.flatMap(({ possible }, at) =>
    at < beginning
      ? []
      : possible
          .filter((other) => other !== turns[at]?.chosen)
          .map((chosen) => [...turns.slice(0, at), { possible, chosen }])
          .filter((other) => preemptionsIn(other) <= preemptionsMax)
          .map(orderOf),
  )
}

for (const { title, set, outcomes } of pairs) {
  t.test(`${title}: right in every order with up to ${preemptionsMax} preemptions`, async (t) => {
    const seen = new Set<string>()
    const orders: number[][] = [[]]
    let runs = 0
    for (let order = orders.pop(); order !== undefined; order = orders.pop()) {
      const { turns, ...found } = await run(set, following(order))
      if (!outcomes.includes(found.outcomes) || found.broken.length > 0)
        t.fail('a wrong outcome', { order: orderOf(turns).join(''), ...found })
      seen.add(found.outcomes)
      orders.push(...othersThan(turns, order.length))
      runs++
    }
    t.comment(`${runs} orders`)
    t.same([...seen].sort(), [...outcomes].sort(), 'each of the right outcomes comes about')
  })
}

t.test('after all of it the ledger reconciles', async (t) => {
  t.same(await path.differences(), [])
})
