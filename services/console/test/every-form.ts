import { type Operation, operations } from '@backoffice/contracts'
import { eventually, proposalOf, seenWithdrawal } from '@backoffice/test-kit'
import type { ConsoleBed } from './console-bed.ts'
import { playBed } from './play-bed.ts'

export const reason = 'as the contract says'

/** A form of the console, and how it is refused: without the reason that it wants, unless more is said. */
export interface Case {
  readonly page: string
  readonly form: string
  /** What somebody else does, once the page is open. */
  readonly meanwhile?: () => Promise<unknown>
  /** What is filled in. */
  readonly fill?: Readonly<Record<string, string>>
  /** Nothing is filled in, and no state of a record refuses it: it is refused while its service is away. */
  readonly onlyAway?: true
}

const away = { onlyAway: true } as const

/** Every form of the console, on a page of its own record where another form would change it. */
export async function everyForm(
  bed: ConsoleBed,
  operators: readonly [working: string, suspended: string],
): Promise<readonly Case[]> {
  const lists = [
    await playerForms(bed),
    await withdrawalForms(bed),
    await operatorForms(bed, operators),
    await webhookForms(bed, operators),
    await playForms(bed, operators),
  ]
  return [
    ...lists.flat(),
    ...['quick', 'full'].map((form) => ({ page: '/production/reconcile', form, ...away })),
    ...['lock', 'unlock'].map((form) => ({ page: '/production/people', form })),
    { page: '/production/sessions', form: 'endAll', ...away },
    { page: `/production/sessions/${await someSession(bed)}`, form: 'end', ...away },
    { page: '/production/search/players', form: 'find' },
  ]
}

/** Of alice, on the command line. */
async function someSession({ bed }: ConsoleBed): Promise<string> {
  const { data } = await bed.team('alice').call(operations.gateway.listOwnSessions, { input: {} })
  return data[0]?.session ?? ''
}

async function playerForms(bed: ConsoleBed): Promise<readonly Case[]> {
  const [bob, carol] = [bed.bed.team('bob'), bed.bed.team('carol')]
  const { takeKycCase } = operations.players
  const take = (playerId: string, team = bob) => team.call(takeKycCase, { input: { playerId, takeOver: true } })
  const player = await bed.newPlayer('production')
  const [free, bobs, alices] = [
    await bed.newPlayer('production'),
    await bed.newPlayer('production'),
    await bed.newPlayer('production'),
  ]
  const comparing = await bed.newPlayer('production')
  await take(comparing, bed.bed.team('alice'))
  await take(bobs)
  await take(alices, bed.bed.team('alice'))
  await bed.newWithdrawal('production', player)
  const { data } = await bob.call(operations.wallet.listEntries, { input: { playerId: player, limit: 1 } })
  const proposal = `/production/proposals/${await bed.newProposal(player)}`
  const fresh = await bed.newPlayer('production')
  return [
    ...['unmask', 'status', 'exclude', 'adjust'].map((form) => ({ page: `/production/players/${player}`, form })),
    { page: `/production/players/${player}`, form: 'limit', fill: { dailyDepositLimitGiven: '10.50', reason } },
    ...['approve', 'ask', 'reject'].map((form) => ({ page: `/production/kyc/${fresh}`, form })),
    { page: `/production/kyc/${free}`, form: 'take', meanwhile: () => take(free) },
    { page: `/production/kyc/${bobs}`, form: 'takeOver', fill: { reason: 'x'.repeat(501) } },
    { page: `/production/kyc/${comparing}`, form: 'compare', meanwhile: () => take(comparing, carol) },
    { page: `/production/kyc/${alices}`, form: 'release', meanwhile: () => take(alices, carol) },
    { page: `/production/players/${player}/entries/${data[0]?.transferId}`, form: 'reverse' },
    { page: proposal, form: 'approve' },
    { page: proposal, form: 'decline' },
  ]
}

async function withdrawalForms(bed: ConsoleBed): Promise<readonly Case[]> {
  const bob = bed.bed.team('bob')
  const newOne = async () => bed.newWithdrawal('production', await bed.newPlayer('production'))
  const decide = async (id: string, decision: 'approve' | 'reject' | 'fail') => {
    const input = { ...(await seenWithdrawal(bob, id)), decision, reason }
    return bob.call(operations.payments.decideWithdrawal, { input })
  }
  const [reject, approve, fail, pay] = [await newOne(), await newOne(), await newOne(), await newOne()]
  const filed = await newOne()
  for (const id of [fail, pay, filed]) await decide(id, 'approve')
  const { fileId } = await bob.call(operations.payments.makePaymentFile, { input: { ids: [filed] } })
  const pageOf = (id: string) => `/production/withdrawals/${id}`
  return [
    { page: pageOf(reject), form: 'reject' },
    { page: pageOf(approve), form: 'approve', meanwhile: () => decide(approve, 'reject') },
    { page: pageOf(fail), form: 'fail' },
    { page: '/production/withdrawals/pay', form: 'file' },
    { page: `/production/withdrawals/pay?file=${fileId}`, form: 'discard' },
    { page: pageOf(pay), form: 'pay', meanwhile: () => decide(pay, 'fail') },
  ]
}

const call = async <O extends Operation>({ bed }: ConsoleBed, operation: O, input: object) =>
  bed.team('alice').call(operation, { input: input as never })

type Names = Parameters<typeof everyForm>[1]

async function operatorForms(bed: ConsoleBed, [working, other]: Names): Promise<readonly Case[]> {
  const { createOperator, suspendOperator } = operations.gateway
  const { operatorId, sandbox } = await call(bed, createOperator, { name: working })
  const { operatorId: suspended } = await call(bed, createOperator, { name: other })
  await call(bed, suspendOperator, { operatorId: suspended })
  await call(bed, operations.webhooks.setWebhookUrl, {
    ...{ operatorId, environment: 'sandbox', url: 'http://127.0.0.1:9/hooks', seen: { url: null } },
  })
  const key = { operatorId, environment: 'production', reason } as const
  const { proposalId } = await proposalOf(call(bed, operations.gateway.issueCredential, key))
  await bed.bed.team('bob').call(operations.gateway.issueCredential, { input: key, approves: proposalId })
  const page = `/sandbox/operators/${operatorId}`
  const plain = ['issue', 'replayProtection', 'webhookSecret', 'replay', 'disableWebhook', 'suspend']
  return [
    ...plain.map((form) => ({ page, form })),
    { page, form: 'limits', fill: { allowedAddressesGiven: 'anywhere', reason } },
    { page, form: 'documents', fill: { templateGiven: 'http://kyc.example', reason } },
    { page, form: 'webhookUrl', fill: { url: 'ftp://hooks.example', reason } },
    { page: `/sandbox/operators/${suspended}`, form: 'activate' },
    { page: '/sandbox/operators/new', form: 'create', fill: { name: working, reason } },
    { page: `/production/proposals/${proposalId}`, form: 'collect', ...away },
    // The last one of the environment.
    { page: `${page}/keys/${sandbox.key}`, form: 'revoke', fill: { reason } },
  ]
}

async function deliveryOf(bed: ConsoleBed, name: string) {
  const { id: operatorId, brands } = await call(bed, operations.gateway.getOperator, { name })
  const brandId = brands.find(({ environment }) => environment === 'sandbox')?.id ?? ''
  const playerId = await bed.newPlayer('sandbox', 'Ana Souza', 'doc-1', bed.bed.scope({ operatorId, brandId }))
  await bed.approve(playerId)
  const where = { operatorId, environment: 'sandbox', limit: 1 }
  return eventually(async () => (await call(bed, operations.webhooks.listDeliveries, where)).data[0] ?? false)
}

async function webhookForms(bed: ConsoleBed, [working, other]: Names): Promise<readonly Case[]> {
  const { listSetAside } = operations.webhooks
  await deliveryOf(bed, working)
  const delivery = await deliveryOf(bed, other)
  const connection = await bed.bed.nats('payments')
  connection.publish('events.deposit.confirmed', 'not JSON')
  const message = await eventually(async () => (await call(bed, listSetAside, { limit: 1 })).data[0] ?? false)
  return [
    // There is no address to send it to.
    { page: `/sandbox/deliveries/${delivery.id}`, form: 'resend', fill: { reason } },
    { page: `/sandbox/deliveries?operator=${working}`, form: 'resend' },
    { page: `/production/set-aside/${message.id}`, form: 'rerun' },
  ]
}

async function playForms(bed: ConsoleBed, [working, other]: Names): Promise<readonly Case[]> {
  const [play, suspended] = [
    await playBed(bed, { operator: working, provider: `${working} Games` }),
    await playBed(bed, { operator: other, provider: `${other} Games` }),
  ]
  const { setProviderGrant, suspendProvider, issueProviderKey } = operations.gateway
  await bed.bed.agreed(setProviderGrant, {
    input: { providerId: suspended.providerId, brandId: suspended.brandId, grant: 'suspended', reason },
  })
  await call(bed, suspendProvider, { providerId: suspended.providerId, reason })
  const { key } = await call(bed, issueProviderKey, { providerId: play.providerId, environment: 'sandbox', reason })
  const player = await play.newGambler()
  await play.bet(player, 'open')
  await play.win(player, '', '250000.00', { transactionId: 'cup', kind: 'promotion' }).catch(() => {})
  const [page, round] = [`/production/providers/${play.providerId}`, `/production/rounds/${await play.roundOf('open')}`]
  const held = new URLSearchParams({ provider: play.providerId, brand: play.brandId, transaction: 'cup' })
  const there = `/production/providers/${suspended.providerId}`
  return [
    ...['grant', 'issue', 'suspend'].map((form) => ({ page, form })),
    { page, form: 'limits', fill: { allowedAddressesGiven: 'anywhere', reason } },
    { page: '/production/providers/new', form: 'create', fill: { name: `${working} Games`, reason } },
    { page: there, form: 'activate' },
    ...['suspendGrant', 'winLimit'].map((form) => ({ page: `${page}/brands/${play.brandId}`, form })),
    { page: `${there}/brands/${suspended.brandId}`, form: 'grant' },
    { page: `/sandbox/providers/${play.providerId}/keys/${key}`, form: 'revoke' },
    { page: '/production/games/wallet-reels', form: 'provider' },
    ...['void', 'close'].map((form) => ({ page: round, form })),
    { page: `/production/held-wins/one?${held}`, form: 'release' },
  ]
}
