import { OperatorClient, sharedSystem, timeZoneAtNoon } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { balanceOf, depositRequest, expectStatus, fund, register, statementOf, sumOf } from '../journey.ts'
import { team, typedByTeam } from './team.ts'

const system = await sharedSystem(t)
const created = await typedByTeam(
  system,
  'alice',
  'operators',
  'create',
  '--name',
  'Casa Rosa',
  '--rate-limit',
  '100000',
  '--time-zone',
  timeZoneAtNoon(),
  '--reason',
  'contract 12',
  '--json',
)
const operator = new OperatorClient(system.baseUrl, created.json.production)
t.teardown(() => operator.close())
const { id: playerId } = await register(operator)
const json = (person: string, ...args: string[]) => team(system, person, ...args, '--json')
const withdrawal = (amount: string, destination = 'ana@example.com') => ({
  ...{ amount, currency: 'BRL', method: 'pix' },
  destination,
})

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
  t.equal(
    (await json('alice', 'kyc', 'decide', playerId, 'aprovado', '--yes', '--reason', 'documents match')).json.kycStatus,
    'aprovado',
  )

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

t.test('what an operator writes cannot deceive the person who decides', async (t) => {
  // It erases its line, writes another amount and destination, hides the rest, and writes the clipboard.
  const hostile =
    '\u001b[2K\u001b[1GSPOOFED sandbox 9.00 BRL pix honest@pix\u001b[8m\u001b]52;c;cm0=\u0007\u009b1A\u202e\u2028\nwdr_more'
  const sandbox = new OperatorClient(system.baseUrl, created.json.sandbox)
  t.teardown(() => sandbox.close())
  const { id } = await register(sandbox)
  await json('alice', 'kyc', 'decide', id, 'aprovado', '--yes', '--reason', 'documents match')
  await fund(sandbox, id, '900.00')
  const request = (destination: string) => sandbox.post(`/players/${id}/withdrawals`, withdrawal('900', destination))
  t.match((await request(hostile)).body.error, {
    code: 'VALIDATION_ERROR',
    details: { in: 'body', issues: [{ path: '/destination' }] },
  })
  // As it would be accepted by a service that does not look.
  const accepted = expectStatus(await request('ana@example.com'), 201)
  const client = new pg.Client({ connectionString: system.postgresUrl })
  await client.connect()
  await client.query("set session_replication_role = 'replica'")
  await client.query('update payments.withdrawal set destination = $1, sealed_destination = null where id = $2', [
    hostile,
    accepted.id,
  ])
  await client.end()

  t.equal((await sandbox.get(`/withdrawals/${accepted.id}`)).body.destination, hostile, 'it is read as before')
  const queue = await team(system, 'alice', 'withdrawals', 'queue', '--operator', 'Casa Rosa', '--env', 'sandbox')
  const record = await json('alice', 'withdrawals', 'show', accepted.id)
  const question = await team(system, 'alice', 'withdrawals', 'approve', accepted.id)
  t.equal(record.json.destination, hostile, 'programs get the same value')
  for (const { stdout, stderr } of [queue, record, question]) {
    const raw = [...stdout, ...stderr].filter((character) => /[^\n\P{C}]|[\u2028\u2029]/u.test(character))
    t.same(raw, [], 'nothing that a terminal obeys')
  }
  t.equal(queue.stdout.trim().split('\n').length, 2, 'a title and one row')
  t.match(queue.stdout, `900.00 BRL`)
  t.match(queue.stdout, String.raw`pix \u001b[2K\u001b[1GSPOOFED`)
  t.match(question, { status: 1, stderr: `900.00 BRL of player ${id} in sandbox` })
  expectStatus(await sandbox.post(`/withdrawals/${accepted.id}/cancel`), 200)
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
