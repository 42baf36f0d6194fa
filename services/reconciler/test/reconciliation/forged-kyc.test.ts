import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { seenSubmission } from '@backoffice/test-kit'
import t from 'tap'
import { add, as, type Brand, bed, eachIsNamed, type Forgeries } from './brand.ts'

const { players } = operations

interface Audited {
  readonly operation_id?: string
  /** Of the person who decided, and what they are said to have signed. */
  readonly actor_id?: string
  readonly session?: string
  readonly proof?: string
  readonly reason?: string
}

/** Decides as players writes it down, with an audit entry if one is given. */
async function forge({ playerId }: Brand, actor: string, status: string, audited?: Audited): Promise<void> {
  const at = new Date()
  const operation_id = audited?.operation_id ?? newId('opn')
  const statement = 'update player set kyc_status = $2, kyc_version = kyc_version + 1 where id = $1'
  await as('players', statement, [playerId, status])
  // The service's role is refused the sandbox's actor. An administrator may switch the triggers off.
  await add('admin', 'players.player_change', {
    ...{ at, player_id: playerId, actor, field: 'kycStatus', previous: 'aprovado', next: status, operation_id },
  })
  if (audited === undefined) return
  const input = { playerId, status, ...(audited.reason && { reason: audited.reason }) }
  await add('players', 'audit_entry', {
    ...{ id: newId('aud'), at, actor, operation: 'decideKyc', subject: playerId },
    ...{ input, outcome: 'done', ...audited, operation_id },
  })
}

const forges = (actor: string, status: string, audited?: Audited) => (brand: Brand) =>
  forge(brand, actor, status, audited)

const decide = async ({ playerId }: Brand, status: 'aprovado' | 'reprovado') =>
  bed.team('carol').call(players.decideKyc, {
    input: { ...(await seenSubmission(bed.team('carol'), playerId)), status, reason: 'seen' },
  })

const forgeries: Forgeries = {
  'a person decides: nothing': async (brand) => {
    await decide(brand, 'reprovado')
    const document = { documentType: 'rg', reference: 'rg-1' } as const
    await bed.rpc.call(players.submitKyc, { scope: brand.scope, input: { playerId: brand.playerId, ...document } })
    await decide(brand, 'aprovado')
  },
  'players ends an approval: nothing': forges('players', 'expirado', {}),
  'players ends an approval that no audit entry tells of: decisions': forges('players', 'expirado'),
  'players rejects by itself: decisions': forges('players', 'reprovado', {}),
  'the sandbox decides in production: decisions': forges('sandbox', 'reprovado'),
  'a decision is in nobody’s audit trail: decisions': forges('carol', 'reprovado'),
  'a decision has an audit entry that nobody signed: decisions': forges('carol', 'reprovado', {}),
  'a decision has an account, a session and a proof that is none: signatures': forges('carol', 'reprovado', {
    actor_id: 'iss carol',
    session: 'session',
    proof: 'wrong',
  }),
  'a decision has the signature of another decision: signatures': async (brand) => {
    await decide(brand, 'aprovado')
    const { rows } = await bed.sql('players').query(
      `select operation_id, actor_id, session, proof, reason from audit_entry
        where subject = $1 and operation = 'decideKyc' and proof is not null order by at desc limit 1`,
      [brand.playerId],
    )
    return forge(brand, 'carol', 'reprovado', rows[0])
  },
  'players writes a status that was never decided: decisions': ({ playerId }) =>
    as('players', `update player set kyc_status = 'reprovado' where id = $1`, [playerId]),
}

t.test('what is forged of identity decisions is named, and nothing else is', (t) => eachIsNamed(t, forgeries))
