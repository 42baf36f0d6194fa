import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { seenSubmission } from '@backoffice/test-kit'
import t from 'tap'
import { as, type Brand, bed, eachIsNamed, type Forgery } from './brand.ts'
import { behindItsBack } from './run.ts'

const { players } = operations

interface Audited {
  readonly actor: string
  readonly status: string
  readonly operationId?: string
  /** Of the person who decided, and what they are said to have signed. */
  readonly actorId?: string
  readonly session?: string
  readonly proof?: string
  readonly reason?: string
}

/** Decides as players writes it down. */
async function forge(
  { playerId }: Brand,
  { actor, status, audited }: { actor: string; status: string; audited?: Audited },
): Promise<void> {
  const now = new Date()
  await as('players', 'update player set kyc_status = $2, kyc_version = kyc_version + 1 where id = $1', [
    playerId,
    status,
  ])
  // The service's role is refused the sandbox's actor. An administrator may switch the triggers off.
  await behindItsBack(
    bed.sql('admin'),
    `insert into players.player_change (at, player_id, actor, field, previous, next)
    values ($1, $2, $3, 'kycStatus', 'aprovado', $4)`,
    [now, playerId, actor, status],
  )
  if (audited === undefined) return
  await as(
    'players',
    `insert into audit_entry (id, at, actor, actor_id, operation, operation_id, subject, reason, input, outcome, session, proof)
    values ($1, $2, $3, $7, 'decideKyc', $6, $4, $10, $5, 'done', $8, $9)`,
    [
      ...[newId('aud'), now, audited.actor, playerId],
      JSON.stringify({ playerId, status: audited.status, ...(audited.reason && { reason: audited.reason }) }),
      ...[audited.operationId ?? newId('opn'), audited.actorId, audited.session, audited.proof, audited.reason],
    ],
  )
}

const decide = async ({ playerId }: Brand, status: 'aprovado' | 'reprovado') =>
  bed.team('carol').call(players.decideKyc, {
    input: { ...(await seenSubmission(bed.team('carol'), playerId)), status, reason: 'seen' },
  })

const forgeries: readonly Forgery[] = [
  {
    what: 'a person decides',
    found: [],
    async forge(brand) {
      await decide(brand, 'reprovado')
      const document = { documentType: 'rg', reference: 'rg-1' } as const
      await bed.rpc.call(players.submitKyc, { scope: brand.scope, input: { playerId: brand.playerId, ...document } })
      await decide(brand, 'aprovado')
    },
  },
  {
    what: 'players ends an approval',
    found: [],
    forge: (brand) =>
      forge(brand, { actor: 'players', status: 'expirado', audited: { actor: 'players', status: 'expirado' } }),
  },
  {
    what: 'players ends an approval that no audit entry tells of',
    found: ['decisions'],
    forge: (brand) => forge(brand, { actor: 'players', status: 'expirado' }),
  },
  {
    what: 'players rejects by itself',
    found: ['decisions'],
    forge: (brand) =>
      forge(brand, { actor: 'players', status: 'reprovado', audited: { actor: 'players', status: 'reprovado' } }),
  },
  {
    what: 'the sandbox decides in production',
    found: ['decisions'],
    forge: (brand) => forge(brand, { actor: 'sandbox', status: 'reprovado' }),
  },
  {
    what: 'a decision is in nobody’s audit trail',
    found: ['decisions'],
    forge: (brand) => forge(brand, { actor: 'carol', status: 'reprovado' }),
  },
  {
    what: 'a decision has an audit entry that nobody signed',
    found: ['decisions'],
    forge: (brand) =>
      forge(brand, { actor: 'carol', status: 'reprovado', audited: { actor: 'carol', status: 'reprovado' } }),
  },
  {
    what: 'a decision has an account, a session and a proof that is none',
    found: ['signatures'],
    forge: (brand) =>
      forge(brand, {
        actor: 'carol',
        status: 'reprovado',
        audited: { actor: 'carol', status: 'reprovado', actorId: 'iss carol', session: 'session', proof: 'wrong' },
      }),
  },
  {
    what: 'a decision has the signature of another decision',
    found: ['signatures'],
    async forge(brand) {
      await decide(brand, 'aprovado')
      const { rows } = await bed.sql('players').query(
        `select operation_id as "operationId", actor_id as "actorId", session, proof, reason from audit_entry
        where subject = $1 and operation = 'decideKyc' and proof is not null order by at desc limit 1`,
        [brand.playerId],
      )
      const audited = { ...rows[0], actor: 'carol', status: 'reprovado' }
      return forge(brand, { actor: 'carol', status: 'reprovado', audited })
    },
  },
  {
    what: 'players writes a status that was never decided',
    found: ['decisions'],
    forge: ({ playerId }) => as('players', `update player set kyc_status = 'reprovado' where id = $1`, [playerId]),
  },
]

t.test('what is forged of identity decisions is named, and nothing else is', (t) => eachIsNamed(t, forgeries))
