// proof: each way to forge a call, of each kind of effect.
// In a process of its own: its ledger, which others would share, stays false.

import { randomUUID } from 'node:crypto'
import { type Operation, operations, toMinorUnits } from '@backoffice/contracts'
import { dayMs, newId } from '@backoffice/process'
import { newPlayer, seenWithdrawal, type TeamUser } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import {
  accounts,
  add,
  adjustment,
  as,
  Brand,
  bed,
  type Forged,
  type ForgedEntry,
  forgeCall,
  run,
  stranger,
} from './brand.ts'

const { gateway, payments, players, wallet, webhooks } = operations
const reason = 'asked for'

type Input = Readonly<Record<string, unknown>>
type Call = Readonly<Record<'actor' | 'actor_id' | 'operation_id', string>> & Pick<ForgedEntry, 'at'>

/** What somebody of the team is to cause, with the call that should have been signed. */
interface Effect {
  readonly operation: Operation
  readonly input: Input
  readonly by: TeamUser
  /** Somebody who may not call it. */
  readonly notBy: TeamUser
  readonly two?: readonly [TeamUser, TeamUser]
  /** Fields of the input, with what another call has there. */
  readonly others: Input
  /** What the trail says besides. */
  readonly row?: Input
  /** Writes it as its service does, because of a call or of none. @returns the subject of what is found */
  readonly write: (call?: Call) => Promise<string>
  /** What else may be wrong with it. */
  readonly more?: Readonly<Record<string, () => Promise<string>>>
}

interface Kind {
  /** Makes what a call is to be about. Each is another record. */
  readonly prepare: () => Promise<Effect>
  /** The checks that may name it. */
  readonly checks: readonly string[]
  /** An incremental run finds it by its time, so the full one alone sees what is given a time of before. */
  readonly isFoundByTime?: boolean
}

type Way = (right: Effect, chosen: { readonly number: number; readonly field: string }) => Omit<Forged, 'operation'>

const seed = Number(process.env.FORGERY_SEED ?? 2_607)
/** Eleven minutes to a day. */
const shift = (number: number) => 660_000 + (number % 86_000) * 1_000
const past = (ms: number) => () => new Date(Date.now() - ms)

/** Ways in which one field is another one. */
const waysOfField: Readonly<Record<string, Way>> = {
  'another call is in the trail': (right, { field }) => ({
    ...right,
    input: { ...right.input, [field]: right.others[field] },
  }),
  'another call was signed': (right, { field }) => ({
    ...right,
    signs: { input: { ...right.input, [field]: right.others[field] } },
  }),
}
const ofBefore = {
  'it is recorded sooner than it was signed': (right, { number }) => ({ ...right, row: { at: past(shift(number))() } }),
  'all of it is of an earlier time': (right, { number }) => ({ ...right, now: past((1 + (number % 300)) * dayMs) }),
} satisfies Readonly<Record<string, Way>>
/** What is wrong with a call, written with the database password of its service. */
const ways: Readonly<Record<string, Way>> = {
  'nobody has signed it': (right) => ({ ...right, row: { proof: null, session: null } }),
  'another operation was signed': (right) => ({ ...right, signs: { operation: 'gateway.suspendOperator' } }),
  'it was signed under another id': (right, { number }) => ({ ...right, signs: { operationId: `opn_${number}` } }),
  'somebody signed who may not': (right) => ({ ...right, by: right.notBy }),
  'another identity provider says who it was': (right) => ({ ...right, issuer: stranger }),
  'another one is named': (right) => ({ ...right, row: { actor: 'dora', actor_id: `${accounts}dora` } }),
  'another account is named': (right) => ({ ...right, row: { actor_id: `${accounts}dora` } }),
  'the login came later': (right, { number }) => ({ ...right, loggedInSecondsAgo: -shift(number) / 1_000 }),
  'the login had ended': (right, { number }) => ({ ...right, loggedInSecondsAgo: 43_200 + (number % dayMs) }),
  'it is recorded later than it was signed': (right, { number }) => ({
    ...right,
    now: past(shift(number)),
    row: { at: new Date() },
  }),
  'the tool is another one': (right) => ({ ...right, row: { tool: 'console' } }),
  'the session is that of nobody': (right) => ({ ...right, row: { session: 'ses_none' } }),
  ...ofBefore,
}
/** Further ways where it takes two people. */
const waysOfTwo: Readonly<Record<string, Way>> = {
  'one person has signed it': ({ two: _, ...right }) => right,
  'one person has signed it for two': (right) => ({ ...right, two: ['alice', 'alice'] }),
  'who proposed it might not': (right) => ({ ...right, two: [right.notBy, 'bob'] }),
  'the proposal is none': ({ two: _, ...right }) => ({ ...right, row: { proposal: 'prp_none' } }),
}

/** How an effect is forged; each returns the subject of what is to be found. */
function forgeriesOf({ others, two, more }: Effect): Readonly<Record<string, (right: Effect) => Promise<string>>> {
  const by = (way: Way, field: string) => async (right: Effect) => {
    const [number = 0] = fc.sample(fc.nat(), { seed: seed + ++forged, numRuns: 1 })
    const call = way(right, { number, field })
    const { operation, row } = right
    return right.write(await forgeCall({ ...call, operation, row: { ...row, ...call.row } }))
  }
  const each = Object.entries({ ...ways, ...(two && waysOfTwo) }).map(([name, way]) => [name, by(way, '')] as const)
  const ofFields = Object.entries(waysOfField).flatMap(([name, way]) =>
    Object.keys(others).map((field) => [`${name}: ${field}`, by(way, field)] as const),
  )
  return {
    ...Object.fromEntries([...each, ...ofFields]),
    'there is no call': (right) => right.write(),
    ...Object.fromEntries(Object.keys(more ?? {}).map((name) => [name, (right) => right.more?.[name]?.() ?? ''])),
  }
}
let forged = 0

// The kinds of effects.

const brand = await Brand.funded()
await brand.confirm(await brand.deposit('900.00'))
const register = async (): Promise<string> =>
  (await bed.rpc.call(players.registerPlayer, { scope: brand.scope, input: newPlayer() })).id
const other = await register()
const nobody = () => ({ at: new Date(), actor: 'carol', actor_id: `${accounts}carol`, operation_id: newId('opn') })

/** The trail of such a call says once that it was done. */
const doneOnce = (effect: Effect): Effect => ({
  ...effect,
  more: {
    ...effect.more,
    'the call has had an effect before': async () => {
      const entry = await forgeCall(effect)
      await add(effect.operation.service, 'audit_entry', { ...entry, id: newId('aud') })
      return effect.write(entry)
    },
  },
})

/** What a player became, in the words of its history. */
interface Change {
  readonly field: 'kycStatus' | 'status' | 'selfExclusion'
  readonly previous?: string
  readonly next: string
}

/** Writes what a player became with the password of players. */
async function change(playerId: string, { field, previous, next }: Change, call: Call = nobody()): Promise<string> {
  const until = next === 'for good' ? null : next
  if (field === 'selfExclusion')
    await as('players', 'update player set self_excluded_from = now(), self_excluded_until = $2 where id = $1', [
      ...[playerId, until],
    ])
  else {
    const set = field === 'status' ? 'status = $2' : 'kyc_status = $2, kyc_version = kyc_version + 1'
    await as('players', `update player set ${set} where id = $1`, [playerId, next])
  }
  const { at, actor, operation_id } = call
  await add('players', 'player_change', { at, player_id: playerId, actor, field, previous, next, reason, operation_id })
  return playerId
}

const ofPlayer = (operation: Operation, says: Input, not: Input, becomes: Change): Kind => ({
  ...{ checks: ['decisions', 'signatures'], isFoundByTime: true },
  prepare: async () => {
    const playerId = await register()
    const input = { playerId, ...says, reason }
    const others = { playerId: other, ...not }
    const write = (call?: Call) => change(playerId, becomes, call)
    return doneOnce({ operation, input, by: 'carol', notBy: 'finance', others, write })
  },
})

/** Two people let a player back in who was excluded. */
const letIn: Kind = {
  ...{ checks: ['decisions', 'signatures'], isFoundByTime: true },
  prepare: async () => {
    const playerId = await register()
    const [previous, next] = ['autoexcluido', 'ativo'] as const
    await bed.team('carol').call(players.setPlayerStatus, { input: { playerId, status: previous, reason } })
    const becomes = { field: 'status', previous, next } as const
    const write = (call?: Call) => change(playerId, becomes, call)
    return doneOnce({
      ...{ operation: players.setPlayerStatus, input: { playerId, status: next, reason }, by: 'bob', notBy: 'finance' },
      ...{ two: ['alice', 'bob'], others: { playerId: other, status: 'encerrado' }, write },
      more: { 'the exclusion is hidden': () => change(playerId, { ...becomes, previous: 'bloqueado' }) },
    })
  },
}

const correction = (amount: string, two?: Effect['two']): Kind => ({
  checks: ['corrections', 'signatures'],
  prepare: async () => {
    const of = new Brand()
    of.playerId = await of.register()
    const reference = randomUUID()
    const posting = { ...adjustment, amount: toMinorUnits(amount), reference, reason }
    return {
      ...{ operation: wallet.adjustWallet, input: { playerId: of.playerId, amount, reference, reason } },
      ...{ by: 'bob', notBy: 'support', ...(two && { two }) },
      others: { playerId: other, amount: '0.01', reference: 'other', reason: 'other' },
      write: (call) => of.post(posting, () => call?.at ?? new Date()),
    }
  },
})

const otherWithdrawal = await brand.request('0.02')
/** A decision that is due, on a withdrawal of its own. Who approves does not pay. */
const decision = (says: 'approve' | 'reject' | 'pay' | 'fail', to: string): Kind => ({
  checks: ['decisions', 'signatures'],
  prepare: async () => {
    const isReviewed = says === 'pay' || says === 'fail'
    const [from, version] = isReviewed ? (['approved', 3] as const) : (['under_review', 2] as const)
    const id = isReviewed ? await brand.approved('0.10') : await brand.request('0.10')
    const bob = { at: new Date(), actor: 'bob', actor_id: `${accounts}bob` }
    const step = async (row: Input) =>
      add('payments', 'status_transition', {
        ...{ record_id: id, version, from_status: from, to_status: to, by_kind: 'team', at: new Date() },
        ...{ operation_id: newId('opn'), ...row },
      })
    return doneOnce({
      operation: payments.decideWithdrawal,
      input: { ...(await seenWithdrawal(bed.team('bob'), id)), decision: says },
      ...{ by: 'bob', notBy: 'compliance' },
      others: {
        ...{ withdrawalId: otherWithdrawal, playerId: 'ply_other', amount: '0.01', currency: 'USD' },
        ...{ decision: says === 'reject' ? 'approve' : 'reject' },
        ...(isReviewed && { destinationDigest: 'x'.repeat(43) }),
      },
      async write(call) {
        const { at, actor: by_name, actor_id: by_id, operation_id = newId('opn') } = { ...bob, ...call }
        await as(
          'payments',
          `update withdrawal set status = $2::text, version = $3, updated_at = $4, reviewed_at = $4,
            paid_at = case when $2 = 'paid' then $4::timestamptz end,
            approved_by = case when $2 = 'approved' then $5 else approved_by end,
            approved_by_id = case when $2 = 'approved' then $6 else approved_by_id end where id = $1`,
          [id, to, version, at, by_name, by_id],
        )
        await step({ at, by_name, by_id, operation_id })
        return id
      },
      more: {
        'it is said to be the operator’s': async () => {
          await as('payments', 'update withdrawal set version = $2 where id = $1', [id, version])
          await step({ by_kind: 'operator' })
          return id
        },
      },
    })
  },
})

const environment = 'production'
const signedBy = { by: 'bob', notBy: 'finance' } as const
const two = ['alice', 'bob'] as const
const ofSettings = { checks: ['signatures'], isFoundByTime: true } as const

/** An operator as the gateway makes one that somebody has asked for. */
async function newOperator(): Promise<{ readonly operatorId: string; readonly brandId: string }> {
  const [operatorId, brandId, name] = [newId('op'), newId('brd'), randomUUID()]
  const input = { name, allowedAddresses: ['192.0.2.1/24'], reason }
  const changes = JSON.stringify([{ field: 'operatorId', before: null, after: operatorId }])
  await forgeCall({ operation: gateway.createOperator, by: 'alice', input, row: { changes } })
  await add('gateway', 'operator', {
    ...{ id: operatorId, name, rate_limit_per_minute: 600, created_at: new Date(), replay_protection: false },
    allowed_addresses: '{192.0.2.0/24}',
  })
  await add('gateway', 'brand', {
    ...{ id: brandId, operator_id: operatorId, environment, name, currency: 'BRL', time_zone: 'UTC' },
  })
  return { operatorId, brandId }
}
const { operatorId: otherOperator } = await newOperator()

const key: Kind = {
  ...ofSettings,
  prepare: async () => {
    const { operatorId, brandId } = await newOperator()
    const key = randomUUID()
    const issue = async (call?: Call, of = key): Promise<string> => {
      const id = newId('crd')
      const sealed = { sealed_secret: 'sealed', created_at: call?.at ?? new Date() }
      await add('gateway', 'credential', { id, brand_id: brandId, key: of, ...sealed })
      return id
    }
    const effect: Effect = {
      ...{ ...signedBy, two, operation: gateway.issueCredential, write: issue },
      input: { operatorId, environment, reason },
      others: { operatorId: otherOperator, environment: 'sandbox' },
      row: { changes: JSON.stringify([{ field: 'key', before: null, after: key }]) },
    }
    return doneOnce({
      ...effect,
      more: {
        'one call has issued two keys': async () => {
          await issue(await forgeCall(effect))
          return issue(undefined, randomUUID())
        },
        'the key was revoked by nobody': async () => {
          const id = await issue(await forgeCall(effect))
          await as('gateway', 'update credential set revoked_at = now() where id = $1', [id])
          return id
        },
      },
    })
  },
}

interface OfOperator {
  readonly operation: Operation
  readonly says: Input
  readonly not: Input
  /** What is written of the operator. */
  readonly set: string
  readonly two?: Effect['two']
  /** What was called for before. */
  readonly before?: Input
  /** What else is written that nobody called for. */
  readonly also?: Readonly<Record<string, string>>
}
const ofOperator = ({ operation, says, not, set, two, before, also = {} }: OfOperator): Kind => ({
  ...ofSettings,
  prepare: async () => {
    const { operatorId } = await newOperator()
    if (before !== undefined) await forgeCall({ operation, ...signedBy, input: { operatorId, ...before, reason } })
    const write = (change: string) => async () => {
      await as('gateway', `update operator set ${change} where id = $1`, [operatorId])
      return operatorId
    }
    return doneOnce({
      ...{ ...signedBy, operation, ...(two && { two }), write: write(set) },
      ...{ input: { operatorId, ...says, reason }, others: { operatorId: otherOperator, ...not } },
      more: Object.fromEntries(Object.entries(also).map(([name, change]) => [name, write(change)])),
    })
  },
})

/** A provider of games as two people make one, and what is written of it. */
async function newProvider(): Promise<string> {
  const [id, name] = [newId('prv'), randomUUID()]
  const input = { name, stakesPerMinute: 600, reason }
  const changes = JSON.stringify([{ field: 'providerId', before: null, after: id }])
  await forgeCall({ operation: gateway.createProvider, by: 'bob', input, two, row: { changes } })
  await add('gateway', 'provider', {
    ...{ id, name, stakes_per_minute: 600, others_per_minute: 120_000, created_at: new Date() },
    allowed_addresses: '{}',
  })
  return id
}
const otherProvider = await newProvider()

/** What a call about a provider sets, and how it is written. Each is of a provider of its own. */
const ofProvider = (
  operation: Operation,
  {
    says,
    not,
    takesTwo = true,
    write,
    row,
    also = {},
  }: {
    readonly says: (id: string, own: string) => Input
    readonly not: Input
    readonly takesTwo?: boolean
    readonly row?: (own: string) => Input
    /** @returns the subject of what is found */
    readonly write: (id: string, own: string, call?: Call) => Promise<string>
    readonly also?: Readonly<Record<string, (id: string) => Promise<string>>>
  },
): Kind => ({
  ...ofSettings,
  prepare: async () => {
    const [id, own] = [await newProvider(), randomUUID()]
    return doneOnce({
      ...{ ...signedBy, ...(takesTwo && { two }), operation, input: { ...says(id, own), reason }, others: not },
      ...(row && { row: row(own) }),
      // Who decides about money is of finance.
      ...(operation.service === 'wallet' && { notBy: 'support' as const }),
      write: (call) => write(id, own, call),
      more: Object.fromEntries(Object.entries(also).map(([name, change]) => [name, () => change(id)])),
    })
  },
})
const updateProvider = (change: string) => async (id: string) => {
  await as('gateway', `update provider set ${change} where id = $1`, [id])
  return id
}
const productionBrand = async () => (await newOperator()).brandId
const brandOfGrants = await productionBrand()
const ofProviders: Readonly<Record<string, Kind>> = {
  'the limits of a provider': ofProvider(gateway.setProviderLimits, {
    says: (providerId) => ({ providerId, stakesPerMinute: 7 }),
    ...{
      not: { providerId: otherProvider, stakesPerMinute: 8 },
      takesTwo: false,
      write: updateProvider('stakes_per_minute = 7'),
    },
    also: {
      'its addresses are others': updateProvider(`allowed_addresses = '{192.0.2.9}'`),
      'it is suspended': updateProvider('suspended_at = now()'),
      'nobody has created one of its name': updateProvider('name = id'),
    },
  }),
  'a provider’s key': ofProvider(gateway.issueProviderKey, {
    says: (providerId) => ({ providerId, environment }),
    not: { providerId: otherProvider, environment: 'sandbox' },
    row: (key) => ({ changes: JSON.stringify([{ field: 'key', before: null, after: key }]) }),
    write: async (provider_id, key, call) => {
      const id = newId('crd')
      const row = { id, provider_id, environment, key, sealed_secret: 'sealed', created_at: call?.at ?? new Date() }
      await add('gateway', 'provider_key', row)
      return id
    },
  }),
  'a provider is let into a brand': ofProvider(gateway.setProviderGrant, {
    says: (providerId) => ({ providerId, brandId: brandOfGrants, grant: 'active' }),
    not: { providerId: otherProvider, brandId: 'brd_other', grant: 'suspended' },
    write: async (provider_id) => {
      await add('gateway', 'provider_brand', { provider_id, brand_id: brandOfGrants, granted_at: new Date() })
      return `${provider_id}/${brandOfGrants}`
    },
  }),
  'a provider serves a game': ofProvider(players.setGameProvider, {
    ...{
      says: (providerId, gameId) => ({ gameId, providerId }),
      not: { gameId: 'star-miner', providerId: otherProvider },
    },
    takesTwo: false,
    write: async (provider_id, id) => {
      // One that is in no brand of production can do no harm there.
      const grant = { providerId: provider_id, brandId: brandOfGrants, grant: 'active', reason }
      await forgeCall({ operation: gateway.setProviderGrant, ...signedBy, two, input: grant })
      await add('gateway', 'provider_brand', { provider_id, brand_id: brandOfGrants, granted_at: new Date() })
      const game = { id, name: id, provider: 'x', category: 'slots', rtp: 96, demo: false, position: 100 }
      await add('admin', 'players.game', game)
      await add('players', 'game_provider', { game_id: id, provider_id })
      return id
    },
  }),
  'what one win may be': ofProvider(wallet.setWinLimit, {
    says: (providerId) => ({ providerId, brandId: brand.scope.brandId, maxWin: '900.00', seen: { maxWin: '500.00' } }),
    not: { providerId: otherProvider, brandId: 'brd_other', maxWin: '901.00' },
    write: async (provider_id) => {
      await add('wallet', 'win_limit', { provider_id, brand_id: brand.scope.brandId, max_win: 90_000 })
      return `${provider_id}/${brand.scope.brandId}`
    },
  }),
  'a win is released': ofProvider(wallet.releaseWin, {
    says: (providerId, transactionId) => ({
      ...{ providerId, brandId: brand.scope.brandId, transactionId },
      seen: { playerId: brand.playerId, amount: '900.00', currency: 'BRL' },
    }),
    not: {
      ...{ providerId: otherProvider, brandId: 'brd_other', transactionId: 'other' },
      seen: { playerId: 'ply_other', amount: '900.00', currency: 'BRL' },
    },
    write: async (provider_id, transaction_id, call) => {
      const { rows } = await bed.sql('wallet').query('select id from account where owner_id = $1', [brand.playerId])
      const at = call?.at ?? new Date()
      await add('wallet', 'held_win', {
        ...{ provider_id, brand_id: brand.scope.brandId, transaction_id, account_id: rows[0].id, amount: 90_000 },
        ...{ first_at: at, released_at: at },
      })
      return `${provider_id}/${brand.scope.brandId}/${transaction_id}`
    },
  }),
  'a round is ended': {
    ...ofSettings,
    prepare: async () => {
      const roundId = randomUUID()
      await brand.bet(roundId, '0.01', { roundId })
      const { rows } = await bed.sql('wallet').query('select id from round where provider_round_id = $1', [roundId])
      const [{ id }] = rows
      return doneOnce({
        ...{ ...signedBy, notBy: 'support', two, operation: wallet.endRound },
        ...{ input: { roundId: id, reason }, others: { roundId: 'rnd_other' } },
        async write(call) {
          await as(
            'wallet',
            `update round r set state = 'closed', closed_at = $2, closed_by = 'team',
              closed_seq = (select seq from account where id = r.account_id) where id = $1`,
            [id, call?.at ?? new Date()],
          )
          return id
        },
      })
    },
  },
}

const address = (
  operation: Operation,
  field: string,
  row: (operatorId: string, url: string) => Promise<unknown>,
): Kind => ({
  ...ofSettings,
  prepare: async () => {
    const [operatorId, url] = [newId('op'), 'https://operator.example/here']
    return doneOnce({
      ...{ ...signedBy, two, operation, input: { operatorId, environment, [field]: url, reason } },
      others: { operatorId: otherOperator, environment: 'sandbox', [field]: 'https://operator.example/there' },
      async write() {
        await row(operatorId, url)
        return `${operatorId}/${environment}`
      },
    })
  },
})

/** One after the other. They differ in what is said, not in how it is said. */
function inTurn(...kinds: readonly [Kind, ...Kind[]]): Kind {
  let turn = 0
  return { ...kinds[0], prepare: () => (kinds[turn++ % kinds.length] ?? kinds[0]).prepare() }
}

const identity = (next: string, not: string) =>
  ofPlayer(
    players.decideKyc,
    { submission: null, status: next },
    { status: not },
    { field: 'kycStatus', previous: 'nao_iniciado', next },
  )
const exclusion = (until: string | null, not: string | null) =>
  ofPlayer(players.selfExcludePlayer, { until }, { until: not }, { field: 'selfExclusion', next: until ?? 'for good' })
const tomorrow = new Date(Date.now() + dayMs).toISOString()
const kinds: Readonly<Record<string, Kind>> = {
  ...ofProviders,
  'a decision on an identity': inTurn(identity('aprovado', 'reprovado'), identity('reprovado', 'aprovado')),
  'a player is blocked': ofPlayer(
    players.setPlayerStatus,
    { status: 'bloqueado' },
    { status: 'encerrado' },
    { field: 'status', previous: 'ativo', next: 'bloqueado' },
  ),
  'a player is excluded': inTurn(exclusion(tomorrow, null), exclusion(null, tomorrow)),
  'a player is let in again': letIn,
  'a small correction': correction('1.00'),
  'a correction that takes two': correction('60.00', two),
  'a withdrawal is reviewed': inTurn(decision('approve', 'approved'), decision('reject', 'rejected')),
  'a withdrawal is paid, or fails': inTurn(decision('pay', 'paid'), decision('fail', 'failed')),
  'a key': key,
  'more addresses are permitted': ofOperator({
    ...{ operation: gateway.setOperatorLimits, two, set: `allowed_addresses = '{0.0.0.0/1}'` },
    ...{ says: { allowedAddresses: ['0.0.0.0/1'] }, not: { allowedAddresses: ['192.0.2.7'] } },
    also: {
      'any address is permitted': `allowed_addresses = '{}'`,
      'the limit is another one': 'rate_limit_per_minute = 1000000',
      'it is suspended': 'suspended_at = now()',
      'nobody has created one of its name': 'name = id',
    },
  }),
  'fewer addresses are permitted': ofOperator({
    ...{ operation: gateway.setOperatorLimits, set: `allowed_addresses = '{192.0.2.9}'` },
    ...{ says: { allowedAddresses: ['192.0.2.9'] }, not: { allowedAddresses: ['192.0.2.7'] } },
  }),
  'replay protection is on': ofOperator({
    ...{ operation: gateway.setReplayProtection, set: 'replay_protection = true' },
    ...{ says: { replayProtection: 'on' }, not: { replayProtection: 'off' } },
  }),
  'replay protection is off': ofOperator({
    ...{ operation: gateway.setReplayProtection, two, set: 'replay_protection = false' },
    ...{ says: { replayProtection: 'off' }, not: { replayProtection: 'on' }, before: { replayProtection: 'on' } },
  }),
  'an address of webhooks': address(webhooks.setWebhookUrl, 'url', (operatorId, url) =>
    add('webhooks', 'endpoint', {
      ...{ id: `${operatorId}/${environment}`, operator_id: operatorId, environment, url },
      ...{ created_at: new Date(), updated_at: new Date() },
    }),
  ),
  'an address of documents': address(players.setDocumentUrl, 'template', (operator_id, template) =>
    add('players', 'document_source', {
      ...{ operator_id, environment, template, sealed_key: 'x', key_created_at: new Date() },
    }),
  ),
}

t.test('what people cause is named unless they signed it as it is, and nothing else is', async (t) => {
  const expected = new Map<string, string>()
  const honest = new Map<string, string>()
  for (const [what, { prepare, isFoundByTime = false }] of Object.entries(kinds)) {
    const right = await prepare()
    honest.set(await right.write(await forgeCall(right)), what)
    for (const [name, forge] of Object.entries(forgeriesOf(right))) {
      const mayMiss = isFoundByTime && name in ofBefore ? ' (by the full run)' : ''
      expected.set(await forge(await prepare()), `${what}: ${name}${mayMiss}`)
    }
  }
  t.comment(`${expected.size} forgeries of ${honest.size} kinds, seed ${seed}`)
  t.ok(expected.size > 20 * honest.size, 'each is a record of its own')
  const checksOf = (of: string) => kinds[of.split(':')[0] ?? '']?.checks ?? []
  for (const isFull of [false, true]) {
    const { differences } = await run(isFull)
    // A setting is named after its record.
    const found = Map.groupBy(differences, ({ subject }) => subject.split(' ')[0] ?? '')
    const isNamed = ([subject, of]: [string, string]) =>
      found.get(subject)?.some(({ check }) => checksOf(of).includes(check)) === true
    const missed = [...expected].filter((one) => !isNamed(one)).map(([, of]) => of)
    t.same(isFull ? missed : missed.filter((of) => !of.endsWith('(by the full run)')), [], `full: ${isFull}`)
    t.same([...honest].filter(isNamed), [], 'of what is honest, nothing')
  }
})
