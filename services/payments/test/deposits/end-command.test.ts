import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Environment, type Input, operations, type Scope, type SeenPart } from '@backoffice/contracts'
import { eventually, holdOpen, proposalOf, refusal, type TeamUser } from '@backoffice/test-kit'
import t from 'tap'
import { type MoneyPath, moneyPath } from '../money-path.ts'

const path = await moneyPath(t)
const { bed } = path
const admin = bed.sql('admin')
const { endCommand, listCommands, showDeposit } = operations.payments
const { creditAccount } = operations.wallet
const reason = 'the account can hold no more'

/** What is given up, as everybody saw it while it was there. */
const shown = new Map<string, SeenPart<typeof endCommand>>()
const inputOf = (commandId: string) => {
  const seen = shown.get(commandId)
  return { commandId, reason, ...(seen === undefined ? {} : { seen }) }
}
const propose = (user: TeamUser, commandId: string) => bed.team(user).call(endCommand, { input: inputOf(commandId) })
const approve = (user: TeamUser, commandId: string, approves: string, operationId: string = randomUUID()) =>
  bed.team(user).call(endCommand, { input: inputOf(commandId), approves, operationId })

/** An account with no room for one centavo more, as a release without a ceiling could leave it. */
const fillAccount = (playerId: string) =>
  admin.query('update wallet.account set posted = 9223372036854775807 where owner_id = $1', [playerId])
const makeRoom = (playerId: string) =>
  admin.query('update wallet.account set posted = 0 where owner_id = $1', [playerId])

/** The relay leaves it alone until somebody takes it over. */
const leaveAlone = (commandId: string) =>
  admin.query("update payments.outbox set leased_until = now() + interval '1 hour' where id = $1", [commandId])

interface Command {
  readonly id: string
  readonly message: { readonly scope: Scope; readonly input: Input<typeof creditAccount> }
}

/** A confirmed deposit whose credit the wallet refuses again and again. */
async function stuckDeposit(of: MoneyPath = path) {
  const playerId = await of.newPlayer({ kyc: false })
  const { id: depositId } = await of.createDeposit(playerId)
  await fillAccount(playerId)
  const operationId = randomUUID()
  assert.equal(await refusal(of.confirm(depositId, operationId)), 'SERVICE_UNAVAILABLE')
  const text = "select id, message from outbox where aggregate = $1 and kind = 'command'"
  const [command] = await path.rows<Command>(text, [depositId])
  assert(command !== undefined)
  const { amount } = command.message.input
  const { environment, currency } = command.message.scope
  shown.set(command.id, { depositId, playerId, environment, amount, currency })
  return { playerId, depositId, operationId, command }
}

for (const environment of ['sandbox', 'production'] as const satisfies readonly Environment[]) {
  t.test(`two people end a credit that the wallet can never do, in ${environment}`, async (t) => {
    const brand = path.in({ environment, brandId: `brd_ended_${environment}` })
    t.same(await path.differences(), [])
    const { playerId, depositId, operationId, command } = await stuckDeposit(brand)

    const { proposalId, ...proposed } = await proposalOf(propose('alice', command.id))
    t.match(proposed, { proposedBy: 'alice' })
    t.match(await bed.team('bob').call(showDeposit, { input: { depositId } }), { status: 'pending', settling: true })
    t.same(
      await proposalOf(propose('alice', command.id)),
      { proposalId, ...proposed },
      'a second call proposes nothing new',
    )
    const secondCall = randomUUID()
    const ended = await approve('bob', command.id, proposalId, secondCall)
    t.same(ended, { commandId: command.id, depositId, state: 'ended', ...proposed })
    t.same(await approve('bob', command.id, proposalId, secondCall), ended, 'a retry gets the same reply')
    t.equal(await refusal(propose('carol', command.id)), 'COMMAND_NOT_FOUND')

    const notPending = { code: 'DEPOSIT_NOT_PENDING', details: { depositId, status: 'failed' } }
    await t.rejects(brand.confirm(depositId, operationId), notPending, 'the retry of the confirmation')
    await t.rejects(brand.confirm(depositId), notPending)
    t.same(await brand.events(depositId), [], 'nobody is told of a confirmation')
    const { transitions, ...deposit } = await bed.team('carol').call(showDeposit, { input: { depositId } })
    t.match(deposit, { status: 'failed', failureReason: reason, confirmedAt: null, settling: false, version: 3 })
    t.match(transitions.slice(1), [
      { from: 'pending', to: 'confirmed', by: { kind: 'operator' } },
      { from: 'confirmed', to: 'failed', by: { kind: 'team', name: 'bob' }, reason },
    ])
    const audit =
      'select distinct on (actor, outcome) actor, outcome, reason from audit_entry where subject = $1 order by actor, outcome'
    t.same(await path.rows(audit, [command.id]), [
      { actor: 'alice', outcome: 'AWAITS_APPROVAL', reason },
      { actor: 'bob', outcome: 'done', reason },
      { actor: 'carol', outcome: 'COMMAND_NOT_FOUND', reason },
    ])

    await makeRoom(playerId)
    const late = bed.rpc.call(creditAccount, { ...command.message, operationId: command.id })
    t.equal(await refusal(late), 'INTERNAL_ERROR')
    t.equal(await brand.balance(playerId), '0.00 / 0.00', 'a credit that arrives late does nothing')
    t.same(await path.differences(), [])
  })
}

t.test('a retry of the confirmation that waits meanwhile is refused too', async (t) => {
  const { playerId, depositId, operationId, command } = await stuckDeposit()
  const { proposalId } = await proposalOf(propose('alice', command.id))
  await leaveAlone(command.id)
  const waiting = refusal(path.confirm(depositId, operationId))
  await eventually(async () => {
    const rows = await path.rows("select from outbox where id = $1 and leased_until > now() + interval '30 minutes'", [
      command.id,
    ])
    return rows.length === 0
  })
  await approve('bob', command.id, proposalId)
  t.equal(await waiting, 'DEPOSIT_NOT_PENDING')
  await makeRoom(playerId)
})

t.test('a credit that the wallet can do, or has done, is not given up', async (t) => {
  const { playerId, depositId, operationId, command } = await stuckDeposit()
  await leaveAlone(command.id)
  const { proposalId } = await proposalOf(propose('alice', command.id))
  await makeRoom(playerId)
  const refused = (because: string) => ({ code: 'COMMAND_CANNOT_BE_ENDED', details: { because } })
  await t.rejects(approve('bob', command.id, proposalId), refused('possible'))
  const decline = { proposalId, reason: 'too late' }
  const declined = refusal(bed.team('alice').call(operations.payments.declineProposal, { input: decline }))
  t.equal(await declined, 'PROPOSAL_NOT_OPEN', 'two people have agreed')
  t.equal(await refusal(approve('carol', command.id, proposalId)), 'PROPOSAL_NOT_OPEN', 'only who agreed tries again')
  // The wallet has posted it, and its sender does not know yet.
  await bed.rpc.call(creditAccount, { ...command.message, operationId: command.id })
  await leaveAlone(command.id)
  await t.rejects(approve('bob', command.id, proposalId), refused('posted'))
  t.equal((await path.confirm(depositId, operationId)).status, 'confirmed')
  t.equal(await path.balance(playerId), '10.00 / 10.00')
  t.equal(await refusal(approve('bob', command.id, proposalId)), 'COMMAND_NOT_FOUND')
})

t.test('one person alone, or a proposal that is declined at the last moment, leaves the credit as it is', async (t) => {
  const { playerId, depositId, operationId, command } = await stuckDeposit()
  await leaveAlone(command.id)
  const { proposalId } = await proposalOf(propose('alice', command.id))
  t.equal(await refusal(approve('alice', command.id, proposalId)), 'TWO_PEOPLE_REQUIRED')
  t.equal(await refusal(approve('bob', command.id, 'prp_nothing')), 'PROPOSAL_NOT_FOUND')
  const decline = "update payments.team_proposal set state = 'declined' where id = $1"
  const declining = await holdOpen(admin, decline, [proposalId])
  const approving = refusal(approve('bob', command.id, proposalId))
  await declining.isAwaited({ count: 1 })
  await declining.commit()
  t.equal(await approving, 'PROPOSAL_NOT_OPEN')
  await makeRoom(playerId)
  t.equal((await path.confirm(depositId, operationId)).status, 'confirmed')
  t.equal(await path.balance(playerId), '10.00 / 10.00')
})

t.test('no other command is given up, and no command that is unknown', async (t) => {
  const id = `cmd_${randomUUID()}`
  await admin.query(
    `insert into payments.outbox (id, aggregate, aggregate_seq, kind, name, message, environment, created_at, leased_until)
    values ($1, $1, 1, 'command', 'wallet.releaseHold', '{}', 'sandbox', now(), now() + interval '1 hour')`,
    [id],
  )
  await t.rejects(propose('alice', id), {
    code: 'COMMAND_CANNOT_BE_ENDED',
    details: { because: 'no credit', operation: 'wallet.releaseHold' },
  })
  await admin.query('delete from payments.outbox where id = $1', [id])
  t.equal(await refusal(propose('alice', id)), 'COMMAND_NOT_FOUND')
})

t.test('a proposal counts for a day, and of two approvals at once one ends it', async (t) => {
  const { playerId, command } = await stuckDeposit()
  const { proposalId: old } = await proposalOf(propose('bob', command.id))
  await admin.query("update payments.team_proposal set expires_at = expires_at - interval '1 day' where id = $1", [old])
  t.equal(await refusal(approve('alice', command.id, old)), 'PROPOSAL_NOT_OPEN')
  const { proposalId } = await proposalOf(propose('alice', command.id))
  const both = await Promise.all(
    (['bob', 'carol'] as const).map((user) => refusal(approve(user, command.id, proposalId))),
  )
  t.equal(both.filter((code) => code === null).length, 1)
  const [code] = both.filter((code) => code !== null)
  t.ok(code === 'PROPOSAL_NOT_OPEN' || code === 'COMMAND_NOT_FOUND', code ?? '')
  await makeRoom(playerId)
})

t.test('commands that have waited for a minute are listed, with what went wrong', async (t) => {
  const { playerId, depositId, command } = await stuckDeposit()
  const list = (input: Partial<Input<typeof listCommands>> = {}) =>
    bed.team('alice').call(listCommands, { input: { limit: 10, ...input } })
  t.same((await list()).data, [])
  await admin.query("update payments.outbox set created_at = '2999-01-01' where id = $1", [command.id])
  t.match((await list()).data, [{ id: command.id }], 'one of the future is listed at once')
  await admin.query('update payments.outbox set created_at = now() where id = $1', [command.id])
  const expected = {
    id: command.id,
    operation: 'wallet.creditAccount',
    subject: depositId,
    environment: 'sandbox',
    lastFault: 'INTERNAL_ERROR',
    requestId: /^req_/,
  }
  t.match((await list({ commandId: command.id })).data, [expected])
  await admin.query("update payments.outbox set created_at = now() - interval '61 s' where id = $1", [command.id])
  t.match((await list()).data, [expected])
  t.same((await list({ after: command.id })).data, [])
  await makeRoom(playerId)
})
