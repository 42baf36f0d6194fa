import { type Operation, operations, type ServiceName, seenOfSubmission, serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { allRows } from '../src/commands/index.ts'
import { typed, wordsFor } from './typed.ts'

const rows = await allRows()

/** What the last call of a command sends, but for what was read before. */
async function inputOf(...words: string[]) {
  const { sent } = await typed(words, () => ({ data: [] }))
  const { seen: _seen, ...input } = (sent.at(-1)?.input ?? {}) as { readonly seen?: unknown }
  return input
}

t.test('--json prints one document; the id of an operation goes to standard error before it is sent', async (t) => {
  const words = ['withdrawals', 'approve', 'wdr_1', '--reason', 'documents match', '--yes', '--json']
  const shown = { playerId: 'ply_1', amount: '9.00', currency: 'BRL', method: 'pix', destination: 'a@pix' }
  const reply = ({ id }: Operation) => (id === 'showWithdrawal' ? shown : { id: 'wdr_1', status: 'approved' })
  const { stdout, stderr, sent } = await typed(words, reply)
  t.strictSame(JSON.parse(stdout), { id: 'wdr_1', status: 'approved' })
  t.match(
    sent.map(({ operation, input }) => [operation.id, input]),
    [
      ['showWithdrawal', { withdrawalId: 'wdr_1' }],
      ['decideWithdrawal', { withdrawalId: 'wdr_1', decision: 'approve', reason: 'documents match', amount: '9.00' }],
    ],
  )
  t.match(sent[1]?.operationId, /^opn_/)
  t.equal(stderr, `operation ${sent[1]?.operationId}\n`)
})

t.test('a correction is asked about with whose account it is, and signed with that', async (t) => {
  const player = { name: 'Ana', operatorId: 'op_1', environment: 'production', currency: 'BRL' }
  const words = ['wallet', 'adjust', 'ply_1', '7.50', '--reference', 'ticket-7', '--reason', 'a double payout']
  const { error, sent } = await typed(words, () => player)
  t.match(error?.message, 'Adjust the wallet of ply_1 ("Ana" of op_1 in production) by 7.50 BRL?')
  t.equal(sent.length, 1)
  const { name: _name, ...seen } = player
  const yes = await typed([...words, '--yes'], () => player)
  t.match(yes.sent.at(-1), { operation: { id: 'adjustWallet' }, input: { playerId: 'ply_1', amount: '7.50', seen } })
})

t.test('a decision about an identity check says what was read, and is signed with its digest', async (t) => {
  const document = { documentType: 'rg', reference: 'doc-1', submittedAt: '2026-03-02', salt: 'a1' }
  const submission = { id: 'kyc_1', ...document, documentUrl: 'https://kyc.example/doc-1?expires=1&signature=0a' }
  const player = { name: 'Ana', cpf: '*********25', birthDate: '1990-**-**', submissions: [submission] }
  const words = ['kyc', 'decide', 'ply_1', 'aprovado', '--reason', 'documents match']
  const { error } = await typed(words, () => player)
  for (const shown of ['Ana (CPF *********25, born 1990-**-**), rg “doc-1”', submission.documentUrl])
    t.match(error?.message, shown)
  const { sent } = await typed([...words, '--yes'], () => player)
  t.match(sent.at(-1)?.input, { submission: 'kyc_1', seen: seenOfSubmission({ player, submission }) })
})

t.test('--operation-id finishes an earlier try under its own id', async (t) => {
  const words = ['deliveries', 'resend', 'dlv_1', '--operation-id', 'opn_earlier']
  const { sent, stderr } = await typed(words, () => ({ type: 'deposit.confirmed' }))
  t.match(sent, [{ operation: { id: 'showDelivery' } }, { operationId: 'opn_earlier' }])
  t.equal(stderr, 'about {"type":"deposit.confirmed"}\noperation opn_earlier\n')
})

t.test('a read prints no operation id', async (t) => {
  t.equal((await typed(['operators', 'list'], () => ({ data: [] }))).stderr, '')
})

t.test('without a terminal and --yes, nothing is sent of what cannot be undone', async (t) => {
  const asking = rows.filter(({ confirm }) => confirm !== undefined)
  t.same(asking.map(({ path }) => path).sort(), [
    ...['commands end', 'credentials revoke', 'events replay', 'kyc decide', 'players anonymise'],
    ...['players self-exclude', 'proposals approve', 'providers revoke-key', 'rounds close', 'rounds void'],
    ...['sessions end', 'sessions lock', 'sessions unlock'],
    ...['wallet adjust', 'wallet record-restore', 'wallet reverse'],
    ...['webhook rotate-secret', 'wins release'],
    ...['withdrawals approve', 'withdrawals fail', 'withdrawals pay', 'withdrawals reject'],
  ])
  // The replies to those that ask by what they have read are in other tests.
  const key = { key: 'some-1' }
  const shown = {
    credentials: [key],
    keys: [key],
    transactionId: 'some-1',
    providerId: 'prv_1',
    brandId: 'brd_production',
  }
  for (const row of asking.filter(({ look }) => look === undefined)) {
    const words = wordsFor(row, 'needed').filter((word) => word !== '--yes')
    const refused = await typed(words, () => ({ data: [shown] }))
    t.match(refused.error?.message, /\?.* --yes/, row.path)
    t.ok(refused.sent.every(({ operation }) => operation.kind === 'query'))
  }
})

t.test('the question says what is about to happen, in the words that were typed', async (t) => {
  const until = ['players', 'self-exclude', 'ply_1', '--until', '2026-03-02']
  t.match((await typed(until)).error?.message, 'Exclude ply_1 until 2026-03-02T00:00:00.000Z?')
  t.match((await typed(until.slice(0, 3))).error?.message, 'Exclude ply_1 for good?')
  const { error } = await typed(['webhook', 'rotate-secret', '--operator', 'Casa Azul', '--env', 'sandbox'])
  t.match(error?.message, 'Rotate the webhook secret of Casa Azul in sandbox?')
})

t.test(
  'the question about a withdrawal shows whose, how much and where to, whatever the destination says',
  async (t) => {
    const destination = 'x"? [y/N] \u001b[2K\u001b[1Gpay wdr_1 (approved), 9.00 BRL \u202e\npix honest@pix'
    const withdrawal = {
      ...{ playerId: 'ply_1', amount: '900.00', currency: 'BRL', status: 'approved' },
      ...{ method: 'pix', destination },
    }
    for (const decision of ['approve', 'reject', 'pay', 'fail']) {
      // In production the payment is not asked about before its approval is proven.
      const environment = decision === 'pay' ? 'sandbox' : 'production'
      const { error, sent } = await typed(['withdrawals', decision, 'wdr_1'], () => ({ ...withdrawal, environment }))
      t.strictSame(
        sent.map(({ operation, input }) => [operation, input]),
        [[operations.payments.showWithdrawal, { withdrawalId: 'wdr_1' }]],
      )
      t.equal(
        error?.message,
        `${decision} wdr_1 (approved), 900.00 BRL of player ply_1 in ${environment}, to "pix" ` +
          String.raw`"x\"? [y/N] \u001b[2K\u001b[1Gpay wdr_1 (approved), 9.00 BRL \u202e\npix honest@pix"? ` +
          'Nobody is here to answer: repeat the command with --yes.',
      )
    }
  },
)

t.test('what is typed becomes the input of the operation', async (t) => {
  for (const [what, typed, sent] of [
    [
      'an operator is typed as a name and sent as an id',
      ['webhook', 'show', '--operator', 'Casa Azul'],
      { operatorId: 'op_1', environment: 'production' },
    ],
    [
      'its brand is that of the environment',
      ['players', 'list', '--operator', 'Casa Azul', '--env', 'sandbox'],
      { brandId: 'brd_sandbox', environment: 'sandbox', limit: 50 },
    ],
    ['by position', ['operators', 'suspend', 'Casa Azul'], { operatorId: 'op_1' }],
    ['so is a provider of games', ['providers', 'suspend', 'Evolution'], { providerId: 'prv_1' }],
    [
      'with a brand of an operator',
      ['wins', 'limit', '5000.00', '--provider', 'Evolution', '--operator', 'Casa Azul', '--reason', 'r'],
      { providerId: 'prv_1', brandId: 'brd_production', maxWin: '5000.00', reason: 'r' },
    ],
    ['none serves a game', ['games', 'provider', 'reels', 'none'], { gameId: 'reels', providerId: null }],
    ['or as an option', ['operators', 'suspend', '--name', 'Casa Azul'], { operatorId: 'op_1' }],
    ['none takes a limit away', ['players', 'limit', 'ply_1', 'none'], { playerId: 'ply_1', dailyDepositLimit: null }],
    ['an amount sets it', ['players', 'limit', 'ply_1', '50'], { playerId: 'ply_1', dailyDepositLimit: '50' }],
    [
      'an exclusion without an end is for good',
      ['players', 'self-exclude', 'ply_1', '--yes'],
      { playerId: 'ply_1', until: null },
    ],
    [
      'a list of options',
      ['operators', 'limits', 'x', '--allow-ip', '10.0.0.1', '10.0.0.2'],
      { operatorId: 'op_1', allowedAddresses: ['10.0.0.1', '10.0.0.2'] },
    ],
    [
      'an option with a value of its own',
      ['operators', 'limits', 'x', '--allow-any-ip'],
      { operatorId: 'op_1', allowedAddresses: [] },
    ],
    [
      'what is not typed is not sent',
      ['operators', 'limits', 'x', '--rate-limit', '9'],
      { operatorId: 'op_1', rateLimitPerMinute: 9 },
    ],
    [
      'currency and time zone',
      ['operators', 'create', '--name', 'Lima', '--currency', 'PEN', '--time-zone', 'America/Lima'],
      { name: 'Lima', currency: 'PEN', timeZone: 'America/Lima' },
    ],
  ] as const)
    t.strictSame(await inputOf(...typed), sent, what)
})

t.test('lists of all operators show production, unless another environment or all is asked for', async (t) => {
  for (const [command, others] of [
    ['kyc queue', { limit: 100 }],
    ['withdrawals queue', { limit: 50, status: 'under_review' }],
    ['withdrawals list', { limit: 50 }],
  ] as const) {
    const input = (...words: string[]) => inputOf(...command.split(' '), ...words)
    const operator = ['--operator', 'Casa Azul'] as const
    t.strictSame(await input(), { ...others, environment: 'production' }, command)
    t.strictSame(await input('--env', 'sandbox'), { ...others, environment: 'sandbox' }, command)
    t.strictSame(await input('--env', 'all'), others, command)
    t.strictSame(await input(...operator), { ...others, operatorId: 'op_1', environment: 'production' }, command)
    t.strictSame(await input(...operator, '--env', 'all'), { ...others, operatorId: 'op_1' }, command)
  }
})

/** The cells of a table that is printed for one row, by their titles. */
async function cellsOf(list: string, row: object): Promise<Readonly<Record<string, string | undefined>>> {
  const { stdout } = await typed(list.split(' '), () => ({ data: [row] }))
  const [titles = [], cells = []] = stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
  return Object.fromEntries(titles.map((title, index) => [title, cells[index]]))
}

const sum = (count: number, amount: string) => ({ count, amount })
const facts = {
  ...{ firstWithdrawal: false, destinationUsedBefore: false },
  ...{ deposits30Days: sum(2, '150.00'), withdrawals30Days: sum(1, '40.00') },
}
const otherPlayers = [
  { playerId: 'ply_2', playerName: 'Bia' },
  { playerId: 'ply_3', playerName: null },
]

t.test('a round is printed with each play, and a day of plays as CSV with the sums of the ledger', async (t) => {
  const play = {
    ...{ kind: 'bet', winKind: null, isSpin: true, outcome: 'refused', code: 'RG_BLOCKED', amount: '0.00' },
    ...{ createdAt: '2026-03-02T12:00:00.000Z', balanceBefore: '9.00', balanceAfter: '9.00', transactionId: 'bet-1' },
    ...{ requestId: 'req_1', bodyDigest: 'ab', standing: { status: 'ativo' } },
  }
  const recalled = await typed(['rounds', 'show', 'rnd_1'], () => ({
    round: { id: 'rnd_1', state: 'open' },
    data: [play],
  }))
  for (const shown of ['state  open', 'spin: bet', 'RG_BLOCKED', 'bet-1', '{"status":"ativo"}'])
    t.match(recalled.stdout, shown)

  const sums = { bets: '2.00', wins: '0.50', rollbacks: '0.00', jackpots: '0.00', promotions: '0.00', ggr: '1.50' }
  const reply = (_operation: Operation, input: object) => ({
    data: [{ ...play, transactionId: 'cursor' in input ? 'bet-2' : 'bet-1' }],
    nextCursor: 'cursor' in input ? null : 'pla_1',
    sums: [{ providerId: 'prv_1', currency: 'BRL', rounds: 1, ...sums }],
  })
  const words = ['play', 'export', '--operator', 'Casa Azul', '--day', '2026-03-02']
  const { stdout } = await typed(words, reply)
  const lines = stdout.trimEnd().split('\n')
  t.match(lines[1], ',bet-1,')
  t.match(lines[2], ',bet-2,')
  t.equal(lines.at(-1), 'ledger,prv_1,BRL,1,2.00,0.50,0.00,0.00,0.00,1.50')
  const json = JSON.parse((await typed([...words, '--json'], reply)).stdout)
  t.match(json, { data: [{ transactionId: 'bet-1' }, { transactionId: 'bet-2' }], sums: [{ ggr: '1.50' }] })
})

t.test('people read tables: a title for each column, and a dash for what is absent', async (t) => {
  const owner = { operatorId: 'op_1', operatorName: 'Casa Azul' }
  const identity = { playerId: 'ply_1', name: 'Ana', kycStatus: 'em_analise', ...owner, submissions: 2 }
  const waiting = { id: 'wdr_1', ...owner, playerName: 'Ana', facts }
  for (const [list, row, shown] of [
    ['kyc queue', identity, { player: 'Ana ply_1', 'kyc status': 'em_analise', taken: '–', submissions: '2' }],
    ['kyc queue', { ...identity, operatorName: null }, { operator: 'op_1' }],
    ['kyc queue', identity, { operator: 'Casa Azul' }],
    ['withdrawals queue', waiting, { player: 'Ana', new: 'destination', 'also of players': 'none' }],
    ['withdrawals queue', { ...waiting, facts: { ...facts, destinationUsedBefore: true } }, { new: 'nothing' }],
    ['withdrawals queue', { ...waiting, facts: { ...facts, firstWithdrawal: true } }, { new: 'first withdrawal' }],
    [
      'withdrawals queue',
      { ...waiting, facts: { ...facts, otherPlayers: { count: 2, players: otherPlayers } } },
      { 'also of players': '2: ply_2 Bia, ply_3' },
    ],
    [
      'withdrawals queue',
      { ...waiting, facts: { ...facts, otherPlayers: { count: 20, players: otherPlayers } } },
      { 'also of players': '20 or more: ply_2 Bia, ply_3' },
    ],
    ['deposits list', { amount: '9.00', currency: 'BRL' }, { amount: '9.00 BRL' }],
    ['deposits list', { status: 'pending', settling: true }, { status: 'pending settling' }],
  ] as const)
    t.match(await cellsOf(list, row), shown, list)
  t.equal((await typed(['kyc', 'queue'], () => ({ data: [] }))).stdout, 'none\n')
})

t.test('a record is a line per field, and its history a table below', async (t) => {
  const by = { kind: 'team', name: 'bob' }
  const transitions = [{ version: 2, from: 'approved', to: 'paid', at: '2026-03-02T12:00:00.000Z', by, reason: null }]
  const balance = { available: '150.00', withdrawable: '110.00', reserved: '40.00' }
  const withdrawal = { id: 'wdr_1', status: 'paid', facts, balance, transitions }
  const credential = { environment: 'production', createdAt: '2026-01-01T00:00:00.000Z', revokedAt: null }
  const credentials = [
    { ...credential, key: 'bk_live_new', lastUsedAt: null },
    { ...credential, key: 'bk_live_used', lastUsedAt: '2026-03-02T12:00:00.000Z' },
  ]
  for (const [words, record, ...lines] of [
    [
      'withdrawals show wdr_1',
      withdrawal,
      /^id +wdr_1\nstatus +paid\n[\s\S]*\n\nhistory\n/,
      /2026-03-02T12:00:00.000Z {2}team bob {2}approved {2}paid {2}–/,
      /^firstWithdrawal +false\ndestinationUsedBefore +false\nalsoOfPlayers +none\n/m,
      /^deposits30Days +2, together 150\.00\nwithdrawals30Days +1, together 40\.00\n/m,
      /^available +150\.00\nwithdrawable +110\.00\nreserved +40\.00\n/m,
    ],
    ['withdrawals show wdr_1', { ...withdrawal, balance: null }, /^available +the wallet does not answer$/m],
    [
      'operators show x',
      { name: 'x', brands: [], credentials },
      /bk_live_new +\S+ +never/,
      /bk_live_used +\S+ +2026-03-02T12:00:00.000Z/,
    ],
  ] as const) {
    const { stdout } = await typed(words.split(' '), () => record)
    for (const line of lines) t.match(stdout, line, words)
  }
})

t.test('a page that ended early is gone on from, up to as many rows as were asked for', async (t) => {
  const all = ['dep_5', 'dep_4', 'dep_3', 'dep_2', 'dep_1']
  const { sent, stdout } = await typed(
    ['deposits', 'list', '--operator', 'Casa Azul', '--limit', '4', '--json'],
    (_operation, input) => {
      const { before, limit } = input as unknown as { readonly before?: string; readonly limit: number }
      const rest = all.slice(before === undefined ? 0 : all.indexOf(before) + 1)
      const data = rest.slice(0, Math.min(limit, 3)).map((id) => ({ id }))
      return { data, nextCursor: data.length < rest.length ? data.at(-1)?.id : null }
    },
  )
  t.strictSame(
    JSON.parse(stdout),
    all.slice(0, 4).map((id) => ({ id })),
  )
  t.match(
    sent.slice(1).map(({ input }) => input),
    [{ limit: 4 }, { limit: 1, before: 'dep_3' }],
  )
})

t.test('what all services list is one list, in its order, and ends where its next page begins', async (t) => {
  /** Of one moment, and in no order of the services. */
  const sameTime = ({ service }: Operation) => {
    const [at, last] = ['2026-03-01T00:00:00.000Z', service.at(-1)]
    return { data: [{ id: `of_${last}`, at, proposedAt: at, createdAt: at }], nextCursor: null }
  }
  const listed = async (reply: (operation: Operation) => unknown, ...words: string[]) => {
    const { stdout, sent } = await typed([...words, '--limit', '3', '--json'], reply)
    t.same(sent.map(({ operation }) => operation.service).toSorted(), [...serviceNames].toSorted())
    const shown = JSON.parse(stdout) as readonly { readonly id: string; readonly service: string }[]
    t.ok(shown.every(({ service }) => serviceNames.includes(service as ServiceName)))
    return shown.map(({ id }) => id)
  }
  t.same(await listed(sameTime, 'audit', 'list'), ['of_y', 'of_t', 'of_s'])
  t.same(await listed(sameTime, 'proposals', 'list'), ['of_y', 'of_t', 'of_s'])
  t.same(await listed(sameTime, 'commands', 'list'), ['of_r', 'of_s', 'of_s'], 'the oldest first')
  const byTime = ({ service }: Operation) => ({
    data: [{ id: service, at: `2026-03-0${serviceNames.indexOf(service as ServiceName) + 1}T00:00:00.000Z` }],
  })
  t.same(await listed(byTime, 'audit', 'list'), serviceNames.slice(-3).toReversed())
})

t.test("a player's export is read page by page from each service, and is one document", async (t) => {
  const pages = ({ service }: { readonly service: string }, input: unknown) =>
    (input as { after?: string }).after === undefined
      ? { rows: [{ table: 'first', values: { id: service } }], nextCursor: 'more' }
      : { rows: [{ table: 'second', values: { id: service } }], nextCursor: null }
  const { stdout, sent } = await typed(['players', 'export', 'ply_1', '--reason', 'asked for it'], pages)
  const { players, payments, wallet } = JSON.parse(stdout)
  for (const [service, tables] of Object.entries({ players, payments, wallet }))
    t.strictSame(tables, { first: [{ id: service }], second: [{ id: service }] })
  const given = { playerId: 'ply_1', reason: 'asked for it' }
  t.same(
    sent.map(({ input }) => input),
    [1, 2, 3].flatMap(() => [given, { ...given, after: 'more' }]),
  )
})

t.test('the question before a credit is given up says whose, and how much', async (t) => {
  const words = ['commands', 'end', 'cmd_1', '--reason', 'no room']
  const deposit = { id: 'dep_1', amount: '10.00', currency: 'BRL', playerId: 'ply_1', environment: 'production' }
  const { error, sent } = await typed(words, ({ id }) =>
    id === 'listCommands'
      ? { data: [{ id: 'cmd_1', operation: 'wallet.creditAccount', subject: 'dep_1' }], nextCursor: null }
      : deposit,
  )
  t.match(
    error?.message,
    'end cmd_1: 10.00 BRL of player ply_1 in production are never credited, and deposit dep_1 fails?',
  )
  t.match(sent, [{ input: { commandId: 'cmd_1' } }, { input: { depositId: 'dep_1' } }])
  const { error: ofNone } = await typed(words, () => ({ data: [], nextCursor: null }))
  t.match(ofNone, { code: 'COMMAND_NOT_FOUND' })
})

t.test('a statement is read page by page, and written as CSV with totals below', async (t) => {
  const entry = (id: string) => ({ id, type: 'DEPOSIT', amount: '1.00', reference: { type: 'deposit', id: 'dep_1' } })
  const byType = [{ type: 'DEPOSIT', entries: 2, amount: '2.00' }]
  const totals = [{ currency: 'BRL', openingBalance: '0.00', closingBalance: '2.00', net: '2.00', entries: 2, byType }]
  const words = ['statement', 'export', '--operator', 'Casa Azul', '--from', '2026-03-02', '--to', '2026-03-03']
  const pages = (_: unknown, input: unknown) =>
    (input as { cursor?: string }).cursor === undefined
      ? { data: [entry('led_1')], nextCursor: 'next', totals }
      : { data: [entry('led_2')], nextCursor: null, totals }
  const { stdout, sent } = await typed(words, pages)
  t.strictSame(
    sent.slice(1).map(({ input }) => (input as { cursor?: string }).cursor),
    [undefined, 'next'],
  )
  t.equal(
    stdout,
    [
      'createdAt,effectiveAt,entryId,transferId,playerId,type,amount,currency,balanceAfter,reference',
      ',,led_1,,,DEPOSIT,1.00,,,deposit dep_1',
      ',,led_2,,,DEPOSIT,1.00,,,deposit dep_1',
      '',
      'total,type,entries,amount,currency',
      'total,DEPOSIT,2,2.00,BRL',
      'total,OPENING_BALANCE,,0.00,BRL',
      'total,NET,2,2.00,BRL',
      'total,CLOSING_BALANCE,,2.00,BRL',
      '',
    ].join('\n'),
  )
  const { stdout: json } = await typed([...words, '--json'], pages)
  t.strictSame(JSON.parse(json), { data: [entry('led_1'), entry('led_2')], totals })
})

t.test('a reconciliation is followed to its end, and a difference is exit status 1', async (t) => {
  const progress = { check: 'balances', done: 1, total: 2 }
  const report = { checks: [], differences: [], differencesTotal: 1, inFlight: [] }
  const { stdout, stderr, sent, status } = await typed(['wallet', 'reconcile', '--json'], (_, input) =>
    'runId' in input ? { runId: 'run_1', state: 'done', report } : { runId: 'run_1', state: 'running', progress },
  )
  t.equal(status, 1)
  t.strictSame(
    sent.map(({ operation, input }) => [operation, input]),
    [
      [operations.reconciler.reconcileWallet, { full: false }],
      [operations.reconciler.reconcileWallet, { runId: 'run_1' }],
    ],
  )
  t.equal(stderr, '', 'its progress is for terminals')
  t.strictSame(JSON.parse(stdout), report)
})
