import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { dayMs, newId } from '@backoffice/process'
import { newPlayer, reconcile, seenSubmission, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { reconciler } from '../../src/service.ts'

// A call and what it changed are told by the operation, never by the moment, which one person's calls can share, and which a
// clock may tell wrong.
const noon = new Date('2026-03-02T15:00:00.000Z')
/** PostgreSQL's; that of the processes and of who signs stands still. */
const present = new TestTime(noon)
const bed = await testBed(t, { players, wallet, payments, reconciler }, { time: present, clock: { now: () => noon } })
const { registerPlayer, decideKyc, setPlayerStatus, selfExcludePlayer } = operations.players
const scope = bed.scope({ environment: 'production' })
const reason = 'asked for'

const register = async (): Promise<string> => (await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })).id

t.test('what one person does twice in one millisecond is nobody’s difference', async (t) => {
  const [bob, excluded, decided, set] = [bed.team('bob'), await register(), await register(), await register()]
  for (const until of ['2026-03-05T23:00:00.000Z', null])
    await bob.call(selfExcludePlayer, { input: { playerId: excluded, until, reason } })
  for (const status of ['aprovado', 'reprovado', 'aprovado'] as const)
    await bed.team('carol').call(decideKyc, {
      input: { ...(await seenSubmission(bed.team('carol'), decided)), status, reason },
    })
  for (const status of ['bloqueado', 'autoexcluido'] as const)
    await bob.call(setPlayerStatus, { input: { playerId: set, status, reason } })
  // Who is excluded is let back in by two, and was blocked before by one.
  for (const status of ['ativo', 'bloqueado', 'ativo'] as const)
    await bed.agreed(setPlayerStatus, { input: { playerId: set, status, reason } })
  for (let run = 0; run < 2; run++) t.same((await reconcile(bed.team('alice'))).differences, [])
})

const minutesLater = (minutes: number) => new Date(noon.getTime() + minutes * 60_000)

t.test('of two people who set one thing at once, who began first may be the last to set it', async (t) => {
  const { operatorId, environment } = scope
  const set = (template: string) =>
    bed.agreed(operations.players.setDocumentUrl, { input: { operatorId, environment, template, reason } })
  const [one, other] = ['https://one.example/{reference}', 'https://other.example/{reference}']
  await set(one)
  // This call leaves it as it is, and began later than the one that then gets the lock.
  await present.set(minutesLater(2))
  await set(one)
  await present.set(minutesLater(1))
  await set(other)
  await present.set(minutesLater(3))
  for (const full of [false, true]) t.same((await reconcile(bed.team('alice'), { full })).differences, [])
  const forge = (template: string) =>
    bed.sql('players').query('update document_source set template = $1 where operator_id = $2', [template, operatorId])
  // Neither what nobody set nor what was set before.
  for (const template of ['https://nobody.example/{reference}', one]) {
    await forge(template)
    for (const full of [false, true])
      t.match((await reconcile(bed.team('alice'), { full })).differences, [{ check: 'signatures' }], template)
  }
  await forge(other)
  t.same((await reconcile(bed.team('alice'))).differences, [])
})

/** Writes with the players' password that somebody has blocked a player. */
async function forgeBlock(playerId: string, entry: Readonly<Record<string, unknown>>): Promise<void> {
  const { id, at, actor, operation_id, input, session, proof } = entry
  const sql = bed.sql('players')
  await sql.query(
    `insert into audit_entry (id, at, actor, actor_id, session, tool, proof, operation, operation_id, subject, reason, input, outcome)
     values ($1, $2, $3, 'https://identity.test ' || $3, $4, 'command line', $5, 'setPlayerStatus', $6, $7, $8, $9, 'done')`,
    [id, at, actor, session, proof, operation_id, playerId, reason, JSON.stringify(input)],
  )
  await sql.query(
    `insert into player_change (player_id, at, actor, field, previous, next, reason, operation_id)
     values ($1, $2, $3, 'status', 'ativo', 'bloqueado', $4, $5)`,
    [playerId, at, actor, reason, operation_id],
  )
  await sql.query("update player set status = 'bloqueado' where id = $1", [playerId])
}

t.test('a clock of PostgreSQL that goes back is named once, and accuses no call', async (t) => {
  const honest = await register()
  const [victim, blockedBefore] = [await register(), await register()]
  await present.set(minutesLater(-57))
  const [bob, carol] = [bed.team('bob'), bed.team('carol')]
  await carol.call(decideKyc, {
    input: { ...(await seenSubmission(carol, honest)), status: 'aprovado', reason },
  })
  for (const status of ['bloqueado', 'ativo'] as const)
    await bed.agreed(setPlayerStatus, { input: { playerId: honest, status, reason } })
  await bob.call(selfExcludePlayer, { input: { playerId: honest, until: null, reason } })
  await bed.agreed(operations.wallet.adjustWallet, {
    input: { playerId: honest, amount: '1.00', reference: 'gift', reason },
  })
  const template = 'https://third.example/{reference}'
  const { operatorId, environment } = scope
  await bed.agreed(operations.players.setDocumentUrl, { input: { operatorId, environment, template, reason } })
  const differences = async (full: boolean) => (await reconcile(bed.team('alice'), { full })).differences
  t.ok((await bed.sql('admin').query("select from reconciler.moment where run_id = 'between runs'")).rowCount)
  const first = await differences(false)
  t.match(first, [{ check: 'evidence', class: 'evidence_missing', subject: /^the clock of PostgreSQL/ }])
  t.equal(first.length, 1)
  t.same([await differences(true), await differences(false)], [[], []])

  // The signature of a call about somebody else.
  const { rows } = await bed.sql('admin').query(
    `select * from players.audit_entry where operation = 'setPlayerStatus' and subject = $1
       and input ->> 'status' = 'bloqueado' and outcome = 'done'`,
    [honest],
  )
  await forgeBlock(victim, { ...rows[0], id: newId('aud'), input: { ...rows[0].input, playerId: victim } })
  const named = [{ check: 'signatures', subject: victim }]
  t.match(await differences(false), named)

  await present.set(minutesLater(10))
  t.match(await differences(true), named)
  // From here on times are judged again: nobody who logged in long ago blocks anybody now.
  const past = new Date(noon.getTime() - 30 * dayMs)
  const [operation_id, input] = [newId('opn'), { playerId: blockedBefore, status: 'bloqueado', reason }]
  const signer = bed.issuer.signer('bob', { now: () => past })
  const { idToken, proof } = await signer.sign({
    operation: 'players.setPlayerStatus',
    operationId: operation_id,
    input,
  })
  const session = newId('ses')
  await bed
    .sql('players')
    .query(
      `insert into team_session (session, person, kind, id_token, first_used_at) values ($1, 'bob', 'person', $2, $3)`,
      [session, idToken, past],
    )
  await forgeBlock(blockedBefore, { id: newId('aud'), at: past, actor: 'bob', operation_id, input, session, proof })
  const last = await differences(true)
  t.match(
    last.map(({ check, subject }) => ({ check, subject })).sort((a, b) => (a.subject < b.subject ? -1 : 1)),
    [victim, blockedBefore].sort().map((subject) => ({ check: 'signatures', subject })),
  )
  t.match(last.find(({ subject }) => subject === blockedBefore)?.actual, /it was written after/)
})
