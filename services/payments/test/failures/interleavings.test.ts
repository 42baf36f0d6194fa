// In a process of its own: its calls are given up much later.

import { drawn } from '@backoffice/test-kit'
import t from 'tap'
import { type Choose, goOn, Interleavings, orderOf, preemptionsIn, type Turn } from './interleavings.ts'
import { pairs } from './money-races.ts'

/** How often a call that could go on may have to wait for the other: all such orders of two calls are tried. */
const preemptionsMax = Number(process.env.PREEMPTIONS_MAX ?? 1)
if (preemptionsMax > 1) t.setTimeout(3_600_000)

const interleavings = await Interleavings.start(t, 2)

/** Follows an order, and then goes on without a preemption. */
const following =
  (order: readonly number[]): Choose =>
  (possible, turns) => {
    const wanted = order[turns.length]
    return wanted !== undefined && possible.includes(wanted) ? wanted : goOn(possible, turns)
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

for (const { title, set, outcomes } of drawn(pairs)) {
  t.test(`${title}: right in every order with up to ${preemptionsMax} preemptions`, async (t) => {
    const seen = new Set<string>()
    const orders: number[][] = [[0], [1]]
    let runs = 0
    for (let order = orders.pop(); order !== undefined; order = orders.pop()) {
      const run = await interleavings.run(set, following(order))
      const wrong = { order: orderOf(run.turns).join(''), outcomes: run.outcomes, broken: run.broken }
      if (!outcomes.includes(run.outcomes) || run.broken.length > 0) t.fail('a wrong outcome', wrong)
      seen.add(run.outcomes)
      orders.push(...othersThan(run.turns, order.length))
      runs++
    }
    t.comment(`${runs} orders`)
    t.same([...seen].sort(), [...outcomes].sort(), 'each of the right outcomes comes about')
  })
}

interleavings.reconciles(t)
