// proof: runs the release before, with its packages.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { operations, serviceNames } from '@backoffice/contracts'
import { eventually, OperatorClient, reconcile, startReceiver } from '@backoffice/test-kit'
import t from 'tap'
import { expectStatus, fund, register } from '../journey.ts'
import { baseUrlOf, newOperator, type Replica, startFleet, statementAgrees } from './fleet.ts'
import { extractPreviousRelease, historyIsMissing, release } from './schema-rules.ts'

const skip = historyIsMissing()
const roundsBeside = 10

t.test(
  'the previous release on the schema of this one: alone, beside it, and after it has left',
  { skip },
  async (t) => {
    const root = extractPreviousRelease(t)
    for (const service of serviceNames) {
      const file = join(root, 'services', service, 'src/storage/migrations/index.ts')
      const { migrations } = await import(pathToFileURL(file).href)
      const names = migrations.map(({ name }: { name: string }) => name)
      t.same(release.migrations[service], names, `${service}: the record names the migrations of that release`)
    }

    // What the migration Job leaves behind: this release's schema, and none but the old processes.
    const fleet = await startFleet(t)
    const old = await fleet.startAll(1, { root })
    const operator = await newOperator(fleet)
    const { url, received } = await startReceiver(t)
    const endpoint = { operatorId: operator.id, environment: 'sandbox', url } as const
    await fleet.bed.team('alice').call(operations.webhooks.setWebhookUrl, { input: endpoint })
    const clientOf = (replicas: readonly Replica[]) => {
      const client = new OperatorClient(baseUrlOf(replicas[0]?.port ?? 0), operator)
      t.teardown(() => client.close())
      return client
    }
    const deposits: string[] = []
    const withdrawals: string[] = []
    const playerIds: string[] = []
    /** Registration, KYC, deposit and withdrawal, each step over the next of these gateways; 7.50 are left. */
    const moneyPath = async (...clients: readonly OperatorClient[]) => {
      let step = 0
      const via = () => clients[step++ % clients.length] as OperatorClient
      const { id: playerId } = await register(via())
      expectStatus(await via().post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
      deposits.push(await fund(via(), playerId, '12.50'))
      const body = { amount: '5.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
      const { id } = expectStatus(await via().post(`/players/${playerId}/withdrawals`, body), 201)
      for (const decision of ['approve', 'pay']) {
        expectStatus(await via().post(`/sandbox/withdrawals/${id}/decision`, { decision }), 200)
      }
      withdrawals.push(id)
      t.equal(expectStatus(await via().get(`/players/${playerId}/wallet`), 200).available, '7.50')
      playerIds.push(playerId)
    }
    const arrived = (type: string, id: string, status: string) =>
      received
        .map(({ body }) => JSON.parse(body))
        .some((event) => event.type === type && event.data.id === id && event.data.status === status)
    const everyEventArrived = () =>
      eventually(
        () =>
          deposits.every((id) => arrived('deposit.confirmed', id, 'confirmed')) &&
          withdrawals.every((id) => arrived('withdrawal.status_changed', id, 'paid')),
      )

    const before = clientOf(old.gateway)
    await moneyPath(before)
    await everyEventArrived()
    t.pass('alone')

    // In the middle of the rollout: NATS gives each request to either release.
    const beside = await fleet.startAll(1)
    const after = clientOf(beside.gateway)
    await Promise.all(
      Array.from({ length: roundsBeside }, (_, round) =>
        round % 2 === 0 ? moneyPath(before, after) : moneyPath(after, before),
      ),
    )
    await everyEventArrived()
    t.pass('beside this release')

    for (const name of serviceNames) {
      for (const replica of old[name])
        t.equal(await replica.stop(), 0, `${name} of the previous release drains and ends`)
    }
    await moneyPath(after)
    await everyEventArrived()
    t.pass('after it has left')
    for (const playerId of playerIds) t.ok(await statementAgrees(after, playerId), 'the statement sums to the balance')
    t.equal((await reconcile(fleet.bed.team('alice'))).differencesTotal, 0, 'the reconciliation finds nothing')
  },
)
