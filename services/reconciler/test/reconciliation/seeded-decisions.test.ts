// proof: a hundred forgeries of each kind, each a record of its own.

import { randomUUID } from 'node:crypto'
import { operations, toMinorUnits } from '@backoffice/contracts'
import { dayMs, newId } from '@backoffice/process'
import { newPlayer } from '@backoffice/test-kit'
import t from 'tap'
import { add, adjustment, as, Brand, bed } from './brand.ts'
import type { ForgedEntry } from './forge-call.ts'
import { allAreNamed, type RightCall } from './seeded.ts'

const { players, wallet } = operations
const reason = 'seen'

const brand = new Brand()
const register = async (): Promise<string> =>
  (await bed.rpc.call(players.registerPlayer, { scope: brand.scope, input: newPlayer() })).id
const other = await register()

interface OfPlayer extends RightCall {
  readonly playerId: string
  readonly field: string
  readonly previous: string | null
  readonly next: string
}

const uncalled = () => ({ at: new Date(), actor: 'carol' as const, operation_id: newId('opn') })

/** Writes what a player became with the password of players. */
async function change(
  { playerId, field, previous, next }: OfPlayer,
  { at, actor, operation_id }: Pick<ForgedEntry, 'at' | 'actor' | 'operation_id'> = uncalled(),
): Promise<string> {
  const values = [playerId, next]
  if (field === 'kycStatus')
    await as('players', 'update player set kyc_status = $2, kyc_version = kyc_version + 1 where id = $1', values)
  else if (field === 'status') await as('players', 'update player set status = $2 where id = $1', values)
  else {
    const statement = 'update player set self_excluded_from = now(), self_excluded_until = $2 where id = $1'
    await as('players', statement, [playerId, next === 'for good' ? null : next])
  }
  await add('players', 'player_change', { at, player_id: playerId, actor, field, previous, next, reason, operation_id })
  return playerId
}

const ofPlayer = {
  checks: ['decisions', 'signatures'],
  isFoundByTime: true,
  effect: (right: OfPlayer, entry: ForgedEntry) => change(right, entry),
  more: { 'there is no call': (right: OfPlayer) => change(right) },
} as const

t.test('decisions on identities that nobody has signed as they are', async (t) => {
  const prepare = async (number: number): Promise<OfPlayer> => {
    const playerId = await register()
    const [next, not] = number % 2 === 0 ? ['aprovado', 'reprovado'] : ['reprovado', 'aprovado']
    const input = { playerId, submission: null, status: next, reason }
    return {
      ...{
        operation: players.decideKyc,
        input,
        by: 'carol',
        notBy: 'finance',
        others: { playerId: other, status: not },
      },
      ...{ playerId, field: 'kycStatus', previous: 'nao_iniciado', next: next ?? '' },
    }
  }
  const again = async (): Promise<string> => {
    const playerId = await register()
    const input = { playerId, submission: null, status: 'aprovado', reason } as const
    await bed.team('carol').call(players.decideKyc, { input })
    await as(
      'players',
      `insert into audit_entry (id, at, actor, actor_id, session, tool, proof, operation, operation_id, subject, reason, input,
        outcome) select $2, now(), actor, actor_id, session, tool, proof, operation, operation_id, subject, reason, input, outcome
        from audit_entry where subject = $1 and operation = 'decideKyc'`,
      [playerId, newId('aud')],
    )
    return playerId
  }
  const more = { ...ofPlayer.more, 'the call has had an effect before': again }
  await allAreNamed<OfPlayer>(t, { ...ofPlayer, prepare, more }, [await brand.register()])
})

t.test('what players may do that nobody has signed as it is', async (t) => {
  const { setPlayerStatus, selfExcludePlayer } = players
  const honest = [await register(), await register()]
  for (const playerId of honest) {
    const team = bed.team('carol')
    await team.call(setPlayerStatus, { input: { playerId, status: 'bloqueado', reason } })
    await team.call(setPlayerStatus, { input: { playerId, status: 'autoexcluido', reason } })
    await bed.agreed(setPlayerStatus, { input: { playerId, status: 'ativo', reason } })
    await team.call(selfExcludePlayer, { input: { playerId, until: '2999-01-01T00:00:00.000Z', reason } })
    await team.call(selfExcludePlayer, { input: { playerId, until: null, reason } })
  }
  await t.test('by one', (t) => {
    const prepare = async (number: number): Promise<OfPlayer> => {
      const playerId = await register()
      const who = { by: 'carol', notBy: 'finance', playerId, previous: null } as const
      if (number % 2 === 0) {
        const others = { playerId: other, status: 'encerrado' }
        const input = { playerId, status: 'bloqueado', reason }
        return {
          ...who,
          operation: setPlayerStatus,
          input,
          others,
          field: 'status',
          previous: 'ativo',
          next: 'bloqueado',
        }
      }
      const until = new Date(Date.now() + dayMs).toISOString()
      const [next, not] = number % 3 === 0 ? ['for good', until] : [until, null]
      const input = { playerId, until: number % 3 === 0 ? null : until, reason }
      const others = { playerId: other, until: not }
      return { ...who, operation: selfExcludePlayer, input, others, field: 'selfExclusion', next }
    }
    return allAreNamed<OfPlayer>(t, { ...ofPlayer, prepare }, honest)
  })
  await t.test('by two', (t) => {
    const prepare = async (): Promise<OfPlayer> => {
      const playerId = await register()
      const [previous, next] = ['autoexcluido', 'ativo'] as const
      await bed.team('carol').call(setPlayerStatus, { input: { playerId, status: previous, reason } })
      return {
        ...{ operation: setPlayerStatus, input: { playerId, status: next, reason }, by: 'bob', notBy: 'finance' },
        ...{ two: ['alice', 'bob'], others: { playerId: other, status: 'encerrado' } },
        ...{ playerId, field: 'status', previous, next },
      }
    }
    const hidden = (right: OfPlayer) => change({ ...right, previous: 'bloqueado' })
    const more = { ...ofPlayer.more, 'the exclusion is hidden': hidden }
    return allAreNamed<OfPlayer>(t, { ...ofPlayer, prepare, more, isOfTwo: true }, honest)
  })
})

interface Correction extends RightCall {
  readonly brand: Brand
  readonly amount: string
  readonly reference: string
}

t.test('corrections that nobody has signed as they are', async (t) => {
  const prepare = (amount: string, two?: RightCall['two']) => async (): Promise<Correction> => {
    const of = new Brand()
    of.playerId = await of.register()
    const reference = randomUUID()
    return {
      ...{ operation: wallet.adjustWallet, input: { playerId: of.playerId, amount, reference, reason } },
      ...{ by: 'bob', notBy: 'support', ...(two && { two }), brand: of, amount, reference },
      others: { playerId: other, amount: '0.01', reference: 'other', reason: 'other' },
    }
  }
  const post = ({ brand, amount, reference }: Correction, at?: Date) =>
    brand.post({ ...adjustment, amount: toMinorUnits(amount), reference, reason }, () => at ?? new Date())
  const corrections = {
    checks: ['corrections', 'signatures'],
    effect: (right: Correction, { at }: { at: Date }) => post(right, at),
    more: { 'there is no call': (right: Correction) => post(right) },
  }
  await t.test('by one', (t) => allAreNamed<Correction>(t, { ...corrections, prepare: prepare('1.00') }, []))
  await t.test('by two', (t) => {
    const ofTwo = { ...corrections, prepare: prepare('60.00', ['alice', 'bob']), isOfTwo: true }
    return allAreNamed<Correction>(t, ofTwo, [])
  })
})
