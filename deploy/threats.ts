// Who may be taken over, and what they could cause then. What stands in no cell is refused at once: docs/security.md is
// written from this, and test/threats tries it.

/** What somebody might want, in production unless it says otherwise. */
export const effects = {
  kyc: 'KYC decided',
  requested: 'withdrawal requested',
  approved: 'withdrawal approved',
  paid: 'withdrawal paid',
  balance: 'balance made',
  player: 'player changed',
  credential: 'key made',
  address: 'webhook or document address changed',
  operator: 'operator suspended or let in',
  session: 'session ended',
  event: 'operators told falsehoods',
  shown: 'people shown falsehoods',
  read: "tenants' data read",
  unmasked: 'unmasked data read',
  secrets: 'secrets read',
  sandbox: 'sandbox changed',
} as const
export type Effect = keyof typeof effects

const ids = (text: string): readonly string[] => text.split(/\s+/)
/** What operations that are no queries cause when they are let. */
const causing: Readonly<Partial<Record<Effect, readonly string[]>>> = {
  requested: ids(`registerPlayer submitKyc openGameSession createDeposit
    failDeposit requestWithdrawal cancelWithdrawal testWebhook`),
  balance: ids(`confirmDeposit creditAccount refuseCredit openHold captureHold
    releaseHold adjustWallet reverseTransfer endCommand`),
  kyc: ids('decideKyc takeKycCase releaseKycCase'),
  paid: ids('decideWithdrawal'),
  player: ids('setPlayerStatus selfExcludePlayer setDailyLimit anonymisePlayer forgetDestinations'),
  credential: ids('createOperator issueCredential'),
  operator: ids(`revokeCredential suspendOperator activateOperator
    setOperatorLimits setReplayProtection setGameAvailability`),
  address: ids('setWebhookUrl rotateWebhookSecret disableWebhook setDocumentUrl'),
  event: ids('resendDelivery resendDeliveries replayEvents rerunSetAside'),
  session: ids('endSession endProviderSession lockTeamMember unlockTeamMember'),
  shown: ids('recordRestore declineProposal'),
  sandbox: ids('decideKycInSandbox decideWithdrawalInSandbox'),
}
/** Nobody gains by these: made again they change nothing, touch no record but new ones, or only encrypt anew. */
const harmless = ids(
  'openAccount registerBrand provisionWebhook abandonOperation sealStoredData rewrapSecrets rewrapWebhookSecrets',
)

/** By the id of an operation. */
export const causes: ReadonlyMap<string, Effect | undefined> = new Map([
  ...harmless.map((id) => [id, undefined] as const),
  ...Object.entries(causing).flatMap(([effect, caused]) => caused.map((id) => [id, effect as Effect] as const)),
])

/** What of somebody it takes: a password, or the whole process with its memory. */
type Means = 'broker' | 'database' | 'process' | 'session' | 'page'

/** A test, by its file and its name there. */
export interface NamedTest {
  readonly file: string
  readonly name: string
}

interface Possible {
  readonly by: Means
  readonly effects: readonly Effect[]
}
interface Threat {
  readonly who: string
  /** Possible, and named by the next reconciliation. */
  readonly found: readonly (Possible & { readonly tests: readonly NamedTest[] })[]
  /** Possible, and named by nobody. */
  readonly accepted: readonly (Possible & { readonly because: string })[]
  /** Where the rest is tried. */
  readonly refused: readonly NamedTest[]
}

const at = (file: string, ...names: readonly [string, ...string[]]): NamedTest[] =>
  names.map((name) => ({ file, name }))
const reconciled = (file: string, ...names: readonly [string, ...string[]]) =>
  at(`services/reconciler/test/checks/${file}.test.ts`, ...names)

const insiders = [
  ...at(
    'test/threats/insiders.test.ts',
    'what nobody has signed for it does nothing, whoever else is hostile',
    'a call that somebody heard has no second effect, whoever sends it again',
  ),
  ...at(
    'packages/contracts/test/broker.test.ts',
    'a service may send only what the table lets it call, and never to itself',
  ),
  ...at(
    'packages/dev-stack/test/nats.test.ts',
    'the gateway cannot touch money: internal operations are closed to it',
    'nobody hears the replies, the requests or the events of another',
    'a service replies only to those who may call it, and in no name but its own',
  ),
]
const inboxes = at(
  'test/e2e/scopes.test.ts',
  'who hears the replies to the team or to the gateway finds no secret and nobody unmasked',
)
const rights = at(
  'packages/migrator/test/rights.test.ts',
  'each role may do to each table what is written here, and nothing else',
)
const scopes = at('test/e2e/scopes.test.ts', 'the right scope is taken, so that it was the scope that was refused')
const takeover = at(
  'services/console/test/takeover.test.ts',
  'who has the console and the cookies of two people reads masked, and does nothing in their names',
)
const records = reconciled('forged-records', 'what is forged is named, each by its check, and nothing else is')
const calls = reconciled(
  'forged-calls',
  'what people cause is named unless they signed it as it is, and nothing else is',
)
const addresses = at(
  'test/e2e/not-as-seen.test.ts',
  'what people of the team have set is not named, and what a service sets by itself is',
)
const answered = 'calls to it'
const wakesNobody = 'reconciliation wakes nobody'
// A code of a shared key over each call would say no more: that key would lie there too.
const asked = "the key of its certificate lies beside operators' secrets; paying takes two people"
const makesPages = 'it makes the page with which people sign, see below'
const anything = Object.keys(effects) as Effect[]
const ofPerson: readonly Effect[] = [
  'kyc',
  'approved',
  'player',
  'operator',
  'session',
  'event',
  'read',
  'unmasked',
  'sandbox',
]
/** Cells that hold for several are written out once. */
const groups = new Map<readonly Effect[], string>([
  [anything, 'anything'],
  [ofPerson, 'what one person may'],
])
const two = [
  ...at(
    'services/wallet/test/corrections/corrections.test.ts',
    'in production a correction above the limit is proposed by one and made by another',
  ),
  ...at(
    'services/gateway/test/operators/operators.test.ts',
    'a key of production is issued by two people, one of the sandbox by one',
  ),
]

export const threats: readonly Threat[] = [
  {
    who: 'gateway',
    found: [{ by: 'database', effects: ['credential', 'operator'], tests: calls }],
    accepted: [
      { by: 'broker', effects: ['requested', 'balance', 'read', 'unmasked', 'sandbox'], because: asked },
      { by: 'database', effects: ['session'], because: 'it keeps which are over, and could undo that' },
      { by: 'process', effects: ['secrets'], because: 'it checks signatures with them' },
    ],
    refused: [...insiders, ...inboxes, ...scopes, ...rights],
  },
  {
    who: 'players',
    found: [
      {
        by: 'database',
        effects: ['kyc', 'player', 'address'],
        tests: [...records, ...calls, ...addresses],
      },
    ],
    accepted: [
      { by: 'broker', effects: ['player'], because: 'payments forgets destinations at its word' },
      { by: 'database', effects: ['player'], because: 'daily limits, and who somebody is, rest on no signature' },
      { by: 'broker', effects: ['read', 'unmasked', 'event', 'shown'], because: answered },
      { by: 'database', effects: ['sandbox'], because: wakesNobody },
    ],
    refused: [...insiders, ...rights],
  },
  {
    who: 'payments',
    found: [
      {
        by: 'broker',
        effects: ['balance'],
        tests: at(
          'test/threats/insiders.test.ts',
          'what payments asks of the wallet by itself is named by reconciliation',
        ),
      },
      { by: 'database', effects: ['approved', 'paid'], tests: [...records, ...calls] },
    ],
    accepted: [
      { by: 'process', effects: ['requested', 'balance'], because: 'as the gateway' },
      { by: 'broker', effects: ['read', 'unmasked', 'event', 'shown'], because: answered },
      { by: 'database', effects: ['sandbox'], because: wakesNobody },
    ],
    refused: [...insiders, ...rights],
  },
  {
    who: 'wallet',
    found: [
      {
        by: 'database',
        effects: ['balance'],
        tests: [...records, ...calls],
      },
    ],
    accepted: [
      { by: 'broker', effects: ['read', 'shown'], because: answered },
      { by: 'database', effects: ['sandbox'], because: wakesNobody },
    ],
    refused: [...insiders, ...rights],
  },
  {
    who: 'webhooks',
    found: [{ by: 'database', effects: ['address'], tests: addresses }],
    accepted: [
      { by: 'broker', effects: ['read', 'shown'], because: answered },
      {
        by: 'process',
        effects: ['event', 'secrets'],
        because: 'it signs what operators are told',
      },
    ],
    refused: [...insiders, ...rights],
  },
  {
    who: 'reconciler',
    found: [],
    accepted: [
      {
        by: 'broker',
        effects: ['shown'],
        because: 'it says whether the books are right',
      },
      { by: 'database', effects: ['read'], because: 'reading the books is its work' },
    ],
    refused: [...insiders, ...rights],
  },
  {
    who: 'games',
    found: [],
    accepted: [{ by: 'database', effects: ['sandbox'], because: 'it can spoil demonstrations, not knowing whose' }],
    refused: rights,
  },
  {
    who: 'console',
    found: [],
    accepted: [
      { by: 'broker', effects: ['read'], because: 'replies to it, masked' },
      { by: 'process', effects: ['read', 'session'], because: 'people let it' },
      { by: 'page', effects: anything, because: makesPages },
    ],
    refused: [...takeover, ...insiders, ...inboxes],
  },
  {
    who: 'streams',
    found: [],
    accepted: [
      {
        by: 'broker',
        effects: ['event', 'read', 'unmasked'],
        because: 'JetStream sends and reads for it; a change stops events within five seconds, and is logged',
      },
    ],
    refused: [
      ...insiders,
      ...at(
        'packages/service-runtime/test/messages/rpc.test.ts',
        'a request whose reply would go elsewhere than to an inbox is neither answered nor run',
      ),
    ],
  },
  {
    who: 'one person',
    found: [],
    accepted: [{ by: 'session', effects: [...ofPerson], because: 'their work: they sign it, and the trail has it' }],
    refused: [
      ...two,
      ...at(
        'packages/service-runtime/test/commands/team-calls.test.ts',
        'who has none of the roles is refused, and the trail says that they tried',
      ),
    ],
  },
  {
    who: 'one person with one password of the broker',
    found: [],
    accepted: [{ by: 'session', effects: ofPerson, because: 'and what the password allows, no more together' }],
    refused: [...two, ...insiders],
  },
  {
    who: 'the TLS proxy before the console',
    found: [],
    accepted: [
      {
        by: 'session',
        effects: ['read', 'session'],
        because: 'the cookies; a form wants a key that is in none',
      },
      { by: 'page', effects: anything, because: makesPages },
    ],
    refused: takeover,
  },
  {
    who: 'a laptop with the file of a session',
    found: [],
    accepted: [{ by: 'session', effects: ofPerson, because: 'until the session is over, ended or locked' }],
    refused: [
      ...two,
      ...at(
        'test/e2e/ended-sessions.test.ts',
        'a session that its person ended is refused by every service, and no other session is',
      ),
    ],
  },
]

/** What comes of it when whoever has a service's password for the broker answers calls to it falsely, or not at all. */
interface AnsweredCalls {
  /** As `service.operation`; of every service where the service is `*`. */
  readonly calls: readonly string[]
  readonly answers: Consequence
  readonly denial: Consequence
}
/** Shown by tests; or accepted, and why. */
type Consequence = { readonly is: string; readonly tests: readonly NamedTest[] } | { readonly accepted: string }

const falseAnswers = (...names: readonly [string, ...string[]]) => at('test/threats/false-answers.test.ts', ...names)
const servicesAway = (name: string) => at('services/payments/test/failures/services-away.test.ts', name)
const toldFalsehoods = { accepted: 'operators are told falsehoods; events and statement say otherwise' }
const unavailable = { accepted: 'unavailable' }

export const answeredCalls: readonly AnsweredCalls[] = [
  {
    calls: ['wallet.openHold'],
    answers: {
      is: 'a withdrawal that nobody approves or pays',
      tests: falseAnswers(
        'two people pay nothing out that the ledger does not reserve, whatever the broker says of it',
        'nothing is paid out whose money is free again by now',
      ),
    },
    denial: unavailable,
  },
  {
    calls: ids('wallet.creditAccount wallet.captureHold wallet.releaseHold'),
    answers: {
      is: 'told as done, named by reconciliation, never paid out',
      tests: falseAnswers(
        'what the ledger is said to have entered, and has not, is named by reconciliation and never paid',
      ),
    },
    denial: {
      is: 'nothing is told before it is done',
      tests: [
        ...servicesAway('without the wallet a confirmation is not over: 503, still pending for everyone, and no event'),
        ...servicesAway(
          'without the wallet a payment is not over: still approved for everyone, and a cancellation is still refused',
        ),
      ],
    },
  },
  {
    calls: ids('wallet.refuseCredit wallet.openAccount'),
    answers: {
      accepted: 'a credit given up is still possible, an account unopened: the next posting tells',
    },
    denial: unavailable,
  },
  {
    calls: ids('players.getPlayerStanding payments.readDayDeposits'),
    answers: {
      accepted: 'who is blocked deposits, plays, requests; people who pay see a standing of players too',
    },
    denial: unavailable,
  },
  {
    calls: ids(`wallet.readBalance wallet.readAccount players.readPlayerNames gateway.readOperatorNames
      webhooks.readHomologation payments.readOpenRecords`),
    answers: {
      accepted: 'people decide by falsehoods: what they sign is compared, what they read is not',
    },
    denial: unavailable,
  },
  {
    calls: ids('payments.forgetDestinations webhooks.provisionWebhook *.registerBrand'),
    answers: { accepted: 'told as done: destinations stay, a new brand is refused' },
    denial: unavailable,
  },
  {
    calls:
      ids(`gateway.getMe players.registerPlayer players.findPlayers players.getKyc players.submitKyc players.listGames
      players.openGameSession players.decideKycInSandbox wallet.getWallet wallet.listTransactions payments.createDeposit
      payments.confirmDeposit payments.failDeposit payments.requestWithdrawal payments.getWithdrawal
      payments.cancelWithdrawal payments.decideWithdrawalInSandbox webhooks.testWebhook *.abandonOperation`),
    answers: toldFalsehoods,
    denial: unavailable,
  },
]

const saidOf = (one: Consequence) => ('accepted' in one ? one.accepted : `${one.is} ${files(one.tests)}`)

/** The rows of the table of calls in docs/security.md. */
export const answerRows = (): readonly string[] =>
  answeredCalls.map(({ calls, answers, denial }) => {
    const names = calls.length > 6 ? 'what operators call' : calls.map((call) => call.replace(/^.*\./, '')).join(', ')
    return `| ${names} | ${saidOf(answers)} | ${saidOf(denial)} |`
  })

const said = ({ by, effects: caused }: Possible) =>
  `${groups.get(caused) ?? caused.map((effect) => effects[effect]).join(', ')} (${by})`
const files = (tests: readonly NamedTest[]) =>
  [...new Set(tests.map(({ file }) => `\`${file.split('/').at(-1)}\``))].join(' ')
const orNone = (text: string) => (text === '' ? '–' : text)

/** The rows of the table in docs/security.md. */
export const threatRows = (): readonly string[] =>
  threats.map(({ who, found, accepted }) => {
    const named = found.map((cell) => `${said(cell)} ${files(cell.tests)}`).join('; ')
    const risks = accepted.map((cell) => `${said(cell)}: ${cell.because}`).join('. ')
    return `| ${who} | ${orNone(named)} | ${orNone(risks)} |`
  })
