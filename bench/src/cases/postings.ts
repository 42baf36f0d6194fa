import { operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Case, Group } from '../case.ts'
import { openAccounts, playerOf } from '../fills.ts'
import type { Work } from '../load/load.ts'
import { NatsRequests } from '../load/nats-requests.ts'
import { measureLoad } from '../measure.ts'
import { accountsOf, type Distribution, distributions, postingReference } from '../references/posting.ts'

const inFlight = 512

const titles: Readonly<Record<Distribution, string>> = {
  uniform: 'all accounts alike',
  hot: 'one hot account',
  zipf: 'Zipf 2.0',
}

/** The wallet alone: credits as payments sends them, without HTTP and without their deposits. */
export const postings: Group = {
  name: 'postings',
  needs: ['plain'],
  async prepare({ options, systems, ending }) {
    const cases: Case[] = []
    const reference = await postingReference({ options, systems, ending })
    for (const subject of systems.plain) {
      // The first credit would open a missing account, which costs more.
      await openAccounts(subject, options.accounts)
      const requests = await NatsRequests.open(subject.login('payments'))
      ending.defer(() => requests.close())
      for (const distribution of distributions) {
        const work = creditAccounts(requests, subject.scope, accountsOf(distribution, options.accounts))
        cases.push({
          id: `postings-${distribution}`,
          title: `wallet credits over NATS, ${inFlight} in flight, ${titles[distribution]}`,
          column: subject.column,
          shows: 'perSecond',
          measure: () => measureLoad({ options, clients: inFlight, processes: () => subject.stack.processes() }, work),
        })
      }
    }
    return inTurns(cases, distributions.flatMap(reference))
  },
}

/** Each reference runs right after its postings, so that a ratio compares figures of the same minutes. */
function inTurns(cases: readonly Case[], references: readonly Case[]): readonly Case[] {
  return distributions.flatMap((distribution) => [
    ...cases.filter(({ id }) => id === `postings-${distribution}`),
    ...references.filter(({ id }) => id === `sql-${distribution}`),
  ])
}

function creditAccounts(requests: NatsRequests, scope: Scope, draw: () => number): Work {
  return async (_client, load) => {
    const sentAtMs = performance.now()
    const failure = await requests.call(operations.wallet.creditAccount, {
      scope,
      input: {
        playerId: playerOf(draw()),
        depositId: newId('dep'),
        amount: '1.00',
        effectiveAt: new Date().toISOString(),
      },
    })
    if (failure === undefined) load.replied(sentAtMs)
    else load.failed(failure)
  }
}
