import { PassThrough } from 'node:stream'
import { type Operation, operations, Rejection, seenOfWithdrawal } from '@backoffice/contracts'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { Session } from '../src/session.ts'
import { proposedBy, recorded, typed } from './typed.ts'

const { suspendOperator } = operations.gateway
const suspension = { operatorId: 'op_1', seen: { name: 'Casa Azul', status: 'active' } } as const

const codes = ['LOGIN_REQUIRED', 'FRESH_LOGIN_REQUIRED', 'ROLE_REQUIRED', 'SERVICE_UNAVAILABLE'] as const
/** Refuses so many calls with a code, and answers those after it. */
function refusing(code: (typeof codes)[number], times: number) {
  const ids: string[] = []
  const call = async (_operation: Operation, { operationId }: { readonly operationId: string }) => {
    ids.push(operationId)
    if (ids.length <= times) throw new Rejection(code)
    return {}
  }
  return { ids, call }
}

const { listReconciliations } = operations.reconciler
const { setWebhookUrl } = operations.webhooks
const { adjustWallet } = operations.wallet
const { decideWithdrawal, makePaymentFile } = operations.payments
const seen = { url: null }
const endpoint = { operatorId: 'op_1', environment: 'production', url: 'https://casa.example/hook', seen } as const
const account = { operatorId: 'op_1', environment: 'production', currency: 'BRL' } as const
const proposal = await proposedBy('alice', setWebhookUrl, { ...endpoint, reason: 'new receiver' })
const listing =
  (service: string, found: object) =>
  (operation: Operation): object =>
    operation.id !== 'listProposals'
      ? { done: operation.id }
      : { data: operation.service === service ? [found] : [], nextCursor: null }
const inWebhooks = (state: string) => listing('webhooks', { ...proposal, state })

for (const code of ['LOGIN_REQUIRED', 'FRESH_LOGIN_REQUIRED'] as const) {
  t.test(`${code}: who can log in without a person does so, and repeats the call under its id`, async (t) => {
    const { ids, call } = refusing(code, 1)
    let renewed = 0
    const session = new Session({ call } as never, {
      renew: () => {
        renewed += 1
      },
    })
    const { error } = await captured(() => session.call(suspendOperator, suspension))
    t.equal(error, undefined)
    t.equal(renewed, 1)
    t.equal(ids.length, 2)
    t.equal(ids[0], ids[1])
  })

  t.test(`${code} a second time, or where a person has to log in, is the end of it`, async (t) => {
    for (const [times, options, calls] of [
      [2, { renew: () => {} }, 2],
      [1, {}, 1],
    ] as const) {
      const refused = refusing(code, times)
      const session = new Session(refused as never, options)
      const { error } = await captured(() => session.call(suspendOperator, suspension))
      t.match(error, { code })
      t.equal(refused.ids.length, calls)
    }
  })
}

t.test('another refusal is not repeated', async (t) => {
  const refused = refusing('ROLE_REQUIRED', 1)
  const session = new Session(refused as never, { renew: () => t.fail('nobody logs in again') })
  const { error } = await captured(() => session.call(suspendOperator, suspension))
  t.match(error, { code: 'ROLE_REQUIRED' })
  t.equal(refused.ids.length, 1)
})

t.test('a service that is started by the call is waited for, which is said; one that runs is not', async (t) => {
  for (const [starts, calls] of [
    [true, 3],
    [false, 1],
  ] as const) {
    const refused = refusing('SERVICE_UNAVAILABLE', 2)
    const session = new Session(refused as never, { starts: () => starts })
    const { error, stderr } = await captured(() => session.call(listReconciliations, { limit: 1 }))
    t.equal(error === undefined, starts)
    t.equal(stderr, starts ? 'reconciler is starting, since it runs only when it is needed\n' : '')
    t.equal(refused.ids.length, calls)
    t.equal(new Set(refused.ids).size, 1, 'under one id')
  }
})

t.test('what was proposed is an outcome, for people and for programs', async (t) => {
  const details = { proposalId: 'prp_1', proposedBy: 'alice', expiresAt: '2026-03-03T12:00:00.000Z' }
  const propose = ({ id }: Operation) => {
    if (id === 'showWebhook') return { url: null }
    throw new Rejection('AWAITS_APPROVAL', details)
  }
  const words = ['webhook', 'set', '--operator', 'Casa Azul', '--url', 'https://casa.example/hook']
  const people = await typed(words, propose)
  t.equal(people.error, undefined)
  t.match(people.stdout, /^state {7}proposed\nproposalId {2}prp_1\n/)
  t.match(people.stdout, /Somebody else carries it out: proposals approve prp_1/)
  const program = await typed([...words, '--json'], propose)
  t.equal(program.error, undefined)
  t.same(JSON.parse(program.stdout), { state: 'proposed', ...details })
})

t.test('--json may stand anywhere on the line', async (t) => {
  const reply = () => ({ data: [{ id: 'op_1' }] })
  for (const words of [
    ['--json', 'operators', 'list'],
    ['operators', '--json', 'list'],
    ['operators', 'list', '--json'],
  ]) {
    t.same(JSON.parse((await typed(words, reply)).stdout), [{ id: 'op_1' }], words.join(' '))
  }
})

t.test('an approval is the same call, with a reason of its own', async (t) => {
  const words = ['proposals', 'approve', 'prp_1', '--reason', 'seen']
  const { sent, stdout } = await typed([...words, '--yes', '--json'], inWebhooks('open'), recorded)
  t.same(JSON.parse(stdout), { done: 'setWebhookUrl' })
  const { operation, input, approves } = sent.at(-1) ?? {}
  t.equal(approves, 'prp_1')
  t.equal(operation, setWebhookUrl)
  t.same(input, { ...endpoint, reason: 'seen' })
  const { error: question } = await typed(words, inWebhooks('open'), recorded)
  t.match(question?.message, 'signed by alice (verified), because "new receiver": carry it out?')
  t.match(question?.message, 'https://casa.example/hook')
})

t.test('what its proposer has not signed is neither asked about nor approved', async (t) => {
  const input = { playerId: 'ply_1', amount: '1000000.00', reference: 'goodwill', seen: account }
  const honest = await proposedBy('alice', adjustWallet, { ...input, reason: 'goodwill' })
  const byCarol = { proposedBy: 'carol', proposedById: 'https://identity.test carol' }
  const lies = {
    amount: { input: { ...input, amount: '1.00' } },
    player: { input: { ...input, playerId: 'ply_2' } },
    reason: { reason: 'a double payout' },
    operation: { operation: 'reverseTransfer' },
    proposer: byCarol,
    name: { proposedBy: 'carol' },
    'operation id': { operationId: 'opn_2' },
    time: { proposedAt: new Date(Date.now() - 3_600_000).toISOString() },
    'no signature': { proof: null, idToken: null },
    'no role': await proposedBy('support', adjustWallet, { ...input, reason: 'goodwill' }),
  }
  const words = ['proposals', 'approve', 'prp_1', '--reason', 'seen', '--yes']
  for (const [lie, said] of Object.entries(lies)) {
    const { sent, error } = await typed(words, listing('wallet', { ...honest, ...said }), recorded)
    t.match(error?.message, 'so nobody can approve it here', lie)
    t.ok(
      sent.every(({ operation }) => operation.kind === 'query'),
      lie,
    )
    const shown = await typed(['proposals', 'show', 'prp_1'], listing('wallet', { ...honest, ...said }), recorded)
    t.match(shown.stdout, /signature +not proven: /, lie)
  }
  const shown = await typed(['proposals', 'show', 'prp_1'], listing('wallet', honest), recorded)
  t.match(shown.stdout, /signature +by alice, verified/)
  t.match((await typed(words, listing('wallet', honest))).error?.message, 'set TEAM_ISSUER')
})

t.test('in production nothing is marked as paid that is not what its approver signed', async (t) => {
  const shown = {
    ...{ id: 'wdr_1', playerId: 'ply_1', environment: 'production', amount: '900.00', currency: 'BRL' },
    ...{ status: 'approved', method: 'pix', destination: 'ana@example.com', destinationSalt: 'salt' },
  }
  const signed = async (said: object) => {
    const input = {
      withdrawalId: 'wdr_1',
      ...seenOfWithdrawal(shown),
      decision: 'approve',
      reason: 'as it is shown',
      ...said,
    } as const
    const {
      proposedBy: actor,
      proposedById: actorId,
      proposedAt: at,
      ...call
    } = await proposedBy('alice', decideWithdrawal, input)
    const { operationId, proof, idToken, anchor } = call
    return { operationId, actor, actorId, at, input, proof, idToken, anchor }
  }
  const approval = await signed({})
  const lies = {
    payee: { destination: 'thief@example.com' },
    amount: { amount: '9000.00' },
    player: { playerId: 'ply_2' },
    method: { method: 'ted' },
    status: { status: 'under_review', destination: 'thief@example.com' },
    'no approval': { approval: null },
    'no signature': { approval: { ...approval, proof: null } },
    'another approval': { approval: await signed({ withdrawalId: 'wdr_2' }) },
    'a rejection': { approval: await signed({ decision: 'reject' }) },
    'what nobody signed': {
      destination: 'b@pix',
      approval: { ...approval, input: { ...approval.input, amount: '1.00' } },
    },
  }
  const words = ['withdrawals', 'pay', 'wdr_1', '--yes']
  for (const [lie, said] of Object.entries(lies)) {
    const { sent, error } = await typed(words, () => ({ ...shown, approval, ...said }), recorded)
    t.match(error, { code: 'NOT_AS_APPROVED' }, lie)
    t.equal(sent.length, 1, lie)
  }
  const { sent } = await typed(words, () => ({ ...shown, approval }), recorded)
  t.match(sent.at(-1), { operation: { id: 'decideWithdrawal' }, input: { decision: 'pay', amount: '900.00' } })
})

t.test('a file for the bank says whether who made it has signed what is in it', async (t) => {
  const [ids, batchNumber, agreement] = [['wdr_1', 'wdr_2'], 7, '001 123456']
  const signed = async (said: object) => {
    const input = { ids, batchNumber, agreement, reason: '', ...said }
    const call = await proposedBy('alice', makePaymentFile, input)
    const { proposedBy: actor, proposedById: actorId, proposedAt: at, operationId, proof, idToken, anchor } = call
    return { operationId, actor, actorId, at, input, proof, idToken, anchor }
  }
  const making = await signed({})
  const withdrawals = ids.map((id) => ({ id, amount: '1.00', currency: 'BRL', status: 'approved' }))
  const file = { madeBy: 'alice', madeAt: making.at, batchNumber, agreement, making, withdrawals }
  const words = ['withdrawals', 'show-file', 'pfl_1']
  const shown = async (said: object) => (await typed(words, () => ({ ...file, ...said }), recorded)).stdout
  const lies = {
    'one more': { withdrawals: [...withdrawals, { ...withdrawals[0], id: 'wdr_3' }] },
    'another order': { withdrawals: withdrawals.toReversed() },
    number: { batchNumber: 8 },
    agreement: { agreement: '001 654321' },
    person: { madeBy: 'bob' },
    time: { madeAt: new Date(0).toISOString() },
    'no call': { making: null },
    'no signature': { making: { ...making, proof: null } },
    'another file': { making: await signed({ ids: ['wdr_3'] }) },
  }
  for (const [lie, said] of Object.entries(lies)) t.match(await shown(said), /making +not proven: /, lie)
  t.match(await shown({}), /making +by alice, verified/)
  t.match((await typed(words, () => file)).stdout, /making +not proven: .*TEAM_ISSUER/)
})

t.test('what is sent is what the question said, whatever a service says the second time', async (t) => {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')
  t.teardown(() => Object.defineProperty(process, 'stdin', stdin as PropertyDescriptor))
  const answerYes = () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true })
    Object.defineProperty(process, 'stdin', { ...stdin, get: () => terminal })
    terminal.write('y\n')
  }
  /** Says one real when it is asked first, and a million after that. */
  const amounts = () => {
    let asked = 0
    return () => (asked++ === 0 ? '1.00' : '1000000.00')
  }
  const [amountOfProposal, amountOfWithdrawal] = [amounts(), amounts()]
  const proposed = (amount: string) =>
    proposedBy('alice', adjustWallet, {
      ...{ playerId: 'ply_1', amount, reference: 'goodwill', seen: account, reason: 'goodwill' },
    })
  const small = await proposed('1.00')
  const large = await proposed('1000000.00')
  const adjustment = (operation: Operation) => {
    if (operation.id !== 'listProposals') return {}
    if (operation.service !== 'wallet') return { data: [], nextCursor: null }
    return { data: [amountOfProposal() === '1.00' ? small : large], nextCursor: null }
  }
  answerYes()
  const approved = await typed(['proposals', 'approve', 'prp_1', '--reason', 'seen'], adjustment, recorded)
  t.match(approved.stderr, '"amount":"1.00"')
  t.match(approved.sent.at(-1), { operation: { id: 'adjustWallet' }, input: { amount: '1.00' } })
  const shown = { playerId: 'ply_1', environment: 'sandbox', currency: 'BRL', destination: 'a@pix' }
  const withdrawal = () => ({ ...shown, amount: amountOfWithdrawal() })
  answerYes()
  const paid = await typed(['withdrawals', 'pay', 'wdr_1'], withdrawal)
  t.match(paid.stderr, '1.00 BRL of player ply_1')
  t.match(paid.sent.at(-1), { operation: { id: 'decideWithdrawal' }, input: { amount: '1.00', playerId: 'ply_1' } })
})

t.test('what is not open cannot be approved', async (t) => {
  const words = ['proposals', 'approve', 'prp_1', '--reason', 'seen', '--yes']
  const declined = await typed(words, inWebhooks('declined'), recorded)
  t.match(declined.error, { code: 'PROPOSAL_NOT_OPEN' })
  t.ok(declined.sent.every(({ operation }) => operation.kind === 'query'))
  t.match((await typed(words, () => ({ data: [], nextCursor: null }))).error, { code: 'PROPOSAL_NOT_FOUND' })
})

t.test('a decline goes to the service that keeps the proposal', async (t) => {
  const words = ['proposals', 'decline', 'prp_1', '--reason', 'wrong address']
  const { sent } = await typed(words, inWebhooks('open'))
  t.equal(sent.at(-1)?.operation, operations.webhooks.declineProposal)
  const seen = { operation: 'setWebhookUrl', operationId: 'opn_1' }
  t.same(sent.at(-1)?.input, { proposalId: 'prp_1', seen, reason: 'wrong address' })
})
