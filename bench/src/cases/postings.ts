import { operations, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Case, Group } from '../case.ts'
import { openAccounts, playerOf } from '../fills.ts'
import type { Work } from '../load/load.ts'
import { callOver, connectAs } from '../load/nats-requests.ts'
import { loadCase } from '../measure.ts'
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
  async prepare(setting) {
    const { options, systems, ending } = setting
    const cases: Case[] = []
    const reference = await postingReference(setting)
    for (const subject of systems.plain) {
      // The first credit would open a missing account, which costs more.
      await openAccounts(subject, options.accounts)
      const connection = await connectAs(subject.login('payments'))
      ending.defer(() => connection.close())
      for (const distribution of distributions) {
        const work = creditAccounts(connection, subject.scope, accountsOf(distribution, options.accounts))
        const title = `wallet credits over NATS, ${inFlight} in flight, ${titles[distribution]}`
        cases.push(loadCase(setting, subject, { id: `postings-${distribution}`, title, clients: inFlight }, work))
      }
    }
    // Each reference runs right after its postings, so that a ratio compares figures of the same minutes.
    return distributions.flatMap((distribution) => [
      ...cases.filter(({ id }) => id === `postings-${distribution}`),
      ...reference(distribution),
    ])
  },
}

function creditAccounts(connection: NatsConnection, scope: Scope, draw: () => number): Work {
  return async (_client, load) => {
    const sentAtMs = performance.now()
    const failure = await callOver(connection, operations.wallet.creditAccount, {
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
