import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { execute } from '@backoffice/team-cli'
import { OperatorClient, type SharedSystem, sharedSystem, timeZoneAtNoon } from '@backoffice/test-kit'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { balanceOf, depositRequest, expectStatus, fund, register, statementOf, sumOf } from '../journey.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface TeamReply {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly json: any
}

/** The team's command line as a person types it: npm runs it as a program of its own. */
async function typedByTeam(system: SharedSystem, person: string, ...args: readonly string[]): Promise<TeamReply> {
  const env = { ...process.env, STACK_JSON: system.stackJson, TEAM_USER: person }
  const words = ['run', '--silent', 'team', '--', ...args]
  const { stdout, stderr } = await promisify(execFile)('npm', words, { cwd: root, env })
  return { status: 0, stdout, stderr, json: parse(stdout) }
}

/** The same in this process, which takes a tenth of the time. */
async function team(system: SharedSystem, person: string, ...args: readonly string[]): Promise<TeamReply> {
  Object.assign(process.env, { STACK_JSON: system.stackJson, TEAM_USER: person })
  let status = 0
  const { stdout, stderr } = await captured(async () => {
    status = await execute(args)
  })
  // Some commands say by it that they have found something: not that this test has failed.
  process.exitCode = undefined
  return { status, stdout, stderr, json: parse(stdout) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const system = await sharedSystem(t)
const limits = ['--rate-limit', '100000', '--time-zone', timeZoneAtNoon()]
const created = await typedByTeam(
  ...([system, 'alice'] as const),
  ...['operators', 'create', '--name', 'Casa Rosa', ...limits, '--reason', 'contract 12', '--json'],
)
const operator = new OperatorClient(system.baseUrl, created.json.production)
t.teardown(() => operator.close())
const { id: playerId } = await register(operator)
const json = (person: string, ...args: string[]) => team(system, person, ...args, '--json')
const withdrawal = (amount: string) => ({ amount, currency: 'BRL', method: 'pix', destination: 'ana@example.com' })

t.test('creating an operator prints both environments once, in the form that programs read', async (t) => {
  t.equal(created.status, 0)
  t.match(created.stderr, /^operation opn_/, 'the operation id is shown before it is sent')
  for (const environment of ['sandbox', 'production']) {
    t.match(created.json[environment], { key: /^bk_(test|live)_/, secret: /^sk_/, webhookSecret: /^whsec_/ })
  }
  const listed = await json('bob', 'operators', 'list')
  t.ok(listed.json.some(({ name }: { name: string }) => name === 'Casa Rosa'))
  t.notMatch(listed.stdout, created.json.production.secret)
  const again = await json('alice', 'operators', 'create', '--name', 'Casa Rosa')
  t.equal(again.status, 1)
  t.equal(again.stdout, '')
  t.match(again.stderr, 'OPERATOR_ALREADY_EXISTS')
})

const grounds = ['--reason', 'documents match', '--rests-on', 'a video call']

t.test('the typical order, in production: the team decides KYC and withdrawals', async (t) => {
  expectStatus(
    await operator.post(`/players/${playerId}/kyc/submissions`, { documentType: 'rg', reference: 'doc-1' }),
    201,
  )
  const withdraw = (amount: string) => operator.post(`/players/${playerId}/withdrawals`, withdrawal(amount))
  t.equal((await withdraw('1')).body.error.code, 'KYC_NOT_APPROVED')
  const queue = await json('alice', 'kyc', 'queue')
  t.match(
    queue.json.find((row: { playerId: string }) => row.playerId === playerId),
    { latestReference: 'doc-1', environment: 'production', operatorName: 'Casa Rosa' },
  )
  t.equal((await json('alice', 'kyc', 'decide', playerId, 'aprovado', '--yes', ...grounds)).json.kycStatus, 'aprovado')

  await fund(operator, playerId, '100.00')
  const { id: withdrawalId } = expectStatus(await withdraw('40'), 201)
  const waiting = await json('alice', 'withdrawals', 'queue')
  t.match(
    waiting.json.find(({ id }: { id: string }) => id === withdrawalId),
    { amount: '40.00', available: '100.00', withdrawable: '60.00', kycStatus: 'aprovado', playerStatus: 'ativo' },
  )

  t.equal((await json('alice', 'withdrawals', 'approve', withdrawalId, '--yes')).json.status, 'approved')
  const alone = await json('alice', 'withdrawals', 'pay', withdrawalId, '--yes')
  t.match(alone, { status: 1, stderr: /TWO_PEOPLE_REQUIRED/ })
  t.equal(await balanceOf(operator, playerId), '100.00')
  const unasked = await json('bob', 'withdrawals', 'pay', withdrawalId)
  t.match(unasked, { status: 1, stderr: /--yes/ }, 'nobody is there to confirm')
  for (const shown of [playerId, '40.00 BRL', 'ana@example.com']) t.match(unasked.stderr, shown)
  t.equal(
    (await json('bob', 'withdrawals', 'pay', withdrawalId, '--yes', '--reason', 'bank file 7')).json.status,
    'paid',
  )
  t.equal(await balanceOf(operator, playerId), '60.00')

  const shown = await json('bob', 'withdrawals', 'show', withdrawalId)
  t.strictSame(
    shown.json.transitions
      .map(({ to, by }: { to: string; by: { kind: string; name: string } }) => [to, by.kind, by.name])
      .sort(),
    [
      ['approved', 'team', 'alice'],
      ['paid', 'team', 'bob'],
      ['under_review', 'operator', created.json.operatorId],
    ],
  )
})

/** Proposed by one person, and carried out by another. */
async function byTwo(first: string, second: string, ...args: string[]) {
  const proposed = await json(first, ...args, '--yes')
  t.match(proposed, { status: 0, json: { state: 'proposed', proposedBy: first } })
  return json(second, 'proposals', 'approve', proposed.json.proposalId, '--reason', 'seen', '--yes')
}

t.test('an adjustment and its reversal take two people, and are new entries, once per reference', async (t) => {
  const adjustment = ['wallet', 'adjust', playerId, '12.50', '--reference', 'goodwill-1', '--reason', 'complaint 4']
  const first = await byTwo('alice', 'bob', ...adjustment)
  t.match(first.json, { type: 'ADJUSTMENT', amount: '12.50', balanceAfter: '72.50' })
  t.equal((await json('alice', ...adjustment, '--yes')).json.transferId, first.json.transferId)
  t.equal(await balanceOf(operator, playerId), '72.50')
  const reverse = (reference: string) =>
    byTwo(
      'bob',
      'alice',
      ...['wallet', 'reverse', playerId, first.json.transferId, '--reference', reference, '--reason', 'entered twice'],
    )
  t.match((await reverse('goodwill-1-back')).json, { type: 'REVERSAL', amount: '-12.50', balanceAfter: '60.00' })
  t.match(await reverse('goodwill-1-again'), { status: 1, stderr: /TRANSFER_ALREADY_REVERSED/ })
  const statement = await statementOf(operator, playerId)
  t.strictSame(
    statement.map(({ type }) => type),
    ['REVERSAL', 'ADJUSTMENT', 'WITHDRAWAL', 'DEPOSIT'],
  )
  t.equal(sumOf(statement.map(({ amount }) => amount)), 6_000n)
})

t.test('self-exclusion and a daily limit block deposits, and say RG_BLOCKED', async (t) => {
  const { id } = await register(operator)
  const deposit = (amount: string) => operator.post(`/players/${id}/deposits`, depositRequest(amount))
  await json('alice', 'players', 'limit', id, '50')
  t.equal((await deposit('50')).status, 201)
  t.match((await deposit('0.01')).body.error, { code: 'RG_BLOCKED' })
  await json('alice', 'players', 'self-exclude', id, '--until', new Date(Date.now() + 3_600_000).toISOString(), '--yes')
  t.match((await deposit('0.01')).body.error, { code: 'RG_BLOCKED', details: { reason: 'self_exclusion' } })
  await json('alice', 'players', 'status', playerId, 'suspenso', '--reason', 'fraud check')
  const refused = await operator.post(`/players/${playerId}/deposits`, depositRequest('1'))
  t.equal(`${refused.status} ${refused.body.error.code}`, '403 PLAYER_NOT_ACTIVE')
})

t.test('every action is in the audit trail, with who and why, and everything agrees', async (t) => {
  const audit = await json('alice', 'audit', 'list', '--limit', '1000')
  const actions = audit.json.map(({ actor, operation, reason }: Record<string, string>) =>
    `${actor} ${operation} ${reason ?? ''}`.trim(),
  )
  for (const action of [
    'alice createOperator contract 12',
    'alice decideKyc documents match',
    'bob decideWithdrawal bank file 7',
    'alice adjustWallet complaint 4',
    'bob adjustWallet seen',
  ]) {
    t.ok(actions.includes(action), action)
  }
  const reconciled = await json('bob', 'wallet', 'reconcile')
  t.equal(reconciled.status, 0)
  t.equal(reconciled.json.differencesTotal, 0)
})
