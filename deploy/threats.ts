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
  operator: 'tenant let in or suspended',
  session: 'session ended',
  event: 'operators deceived',
  shown: 'people deceived',
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
    releaseHold adjustWallet reverseTransfer endCommand
    placeBet playSpin stake creditWin rollbackBet closeRound voidRound endRound releaseWin setWinLimit`),
  kyc: ids('decideKyc takeKycCase releaseKycCase'),
  paid: ids('decideWithdrawal'),
  player: ids('setPlayerStatus selfExcludePlayer setDailyLimit anonymisePlayer forgetDestinations'),
  credential: ids('createOperator issueCredential issueProviderKey'),
  operator: ids(`revokeCredential suspendOperator activateOperator
    setOperatorLimits setReplayProtection setGameAvailability
    createProvider setProviderGrant setProviderLimits suspendProvider activateProvider revokeProviderKey setGameProvider`),
  address: ids('setWebhookUrl rotateWebhookSecret disableWebhook setDocumentUrl'),
  event: ids('resendDelivery resendDeliveries replayEvents rerunSetAside'),
  session: ids('endSession endProviderSession lockTeamMember unlockTeamMember'),
  shown: ids('recordRestore declineProposal makePaymentFile discardPaymentFile'),
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
type Means = 'broker' | 'database' | 'process' | 'session' | 'page' | 'key'

interface Possible {
  readonly by: Means
  readonly effects: readonly Effect[]
}
interface Threat {
  readonly who: string
  /** Possible, and named by the next reconciliation, as these test files show. */
  readonly found: readonly (Possible & { readonly tests: readonly string[] })[]
  /** Possible, and named by nobody. */
  readonly accepted: readonly (Possible & { readonly because: string })[]
  /** Where the rest is tried. */
  readonly refused: readonly string[]
}

const insiders = [
  'test/threats/insiders.test.ts',
  'packages/contracts/test/broker.test.ts',
  'local/stack/test/nats.test.ts',
]
const inboxes = ['test/e2e/scopes.test.ts']
const rights = ['services/migrator/test/rights.test.ts']
const takeover = ['services/console/test/takeover.test.ts']
const records = ['services/reconciler/test/checks/forged-records.test.ts']
const calls = ['services/reconciler/test/checks/forged-calls.test.ts']
const addresses = ['test/e2e/not-as-seen.test.ts']
const answered = 'calls to it'
const wakesNobody = 'reconciliation wakes nobody'
// A code of a shared key over each call would say no more: that key would lie there too.
const asked = "the key of its certificate lies beside operators' secrets; paying takes two people"
const madeByPlay = 'spins that nobody played, each below the limit of a win; paying takes two people'
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
  'services/wallet/test/corrections/corrections.test.ts',
  'services/gateway/test/operators/operators.test.ts',
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
    refused: [...insiders, ...inboxes, ...rights],
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
      { by: 'broker', effects: ['balance'], because: madeByPlay },
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
        tests: ['test/threats/insiders.test.ts'],
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
      { by: 'process', effects: ['event', 'secrets'], because: 'it signs what operators are told' },
    ],
    refused: [...insiders, ...rights],
  },
  {
    who: 'reconciler',
    found: [],
    accepted: [
      { by: 'broker', effects: ['shown'], because: 'it says whether the books are right' },
      { by: 'database', effects: ['read'], because: 'reading the books is its work' },
    ],
    refused: [...insiders, ...rights],
  },
  {
    who: 'games',
    found: [],
    accepted: [
      { by: 'database', effects: ['sandbox'], because: 'it can spoil demonstrations, not knowing whose' },
      { by: 'process', effects: ['sandbox'], because: 'its key stakes wallets of the sandbox' },
    ],
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
    who: 'providers',
    found: [],
    accepted: [
      { by: 'broker', effects: ['balance', 'read'], because: madeByPlay },
      { by: 'database', effects: ['credential', 'operator', 'session'], because: 'as the gateway, whose role it has' },
      { by: 'process', effects: ['secrets'], because: 'as the gateway, whose image it is' },
    ],
    refused: [...insiders, 'services/gateway/test/providers/surface.test.ts'],
  },
  {
    who: 'a provider of games, or who has its key',
    found: [],
    accepted: [{ by: 'key', effects: ['balance', 'read'], because: `in the brands of its grants, ${madeByPlay}` }],
    refused: ['services/gateway/test/providers/surface.test.ts', 'services/wallet/test/rounds/rounds.test.ts'],
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
    refused: [...insiders, 'packages/service-runtime/test/messages/rpc.test.ts'],
  },
  {
    who: 'one person',
    found: [],
    accepted: [{ by: 'session', effects: [...ofPerson], because: 'their work: they sign it, and the trail has it' }],
    refused: [...two, 'packages/service-runtime/test/commands/team-calls.test.ts'],
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
      { by: 'session', effects: ['read', 'session'], because: 'the cookies; a form wants a key that is in none' },
      { by: 'page', effects: anything, because: makesPages },
    ],
    refused: takeover,
  },
  {
    who: 'a laptop with the file of a session',
    found: [],
    accepted: [{ by: 'session', effects: ofPerson, because: 'until the session is over, ended or locked' }],
    refused: [...two, 'test/e2e/ended-sessions.test.ts'],
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
type Consequence = { readonly is: string; readonly tests: readonly string[] } | { readonly accepted: string }

const falseAnswers = ['test/threats/false-answers.test.ts']
const servicesAway = ['services/payments/test/failures/services-away.test.ts']
const toldFalsehoods = { accepted: 'operators are deceived; events and statement say otherwise' }
const toldProviders = { accepted: "providers are deceived; the ledger and their day's file say otherwise" }
const unavailable = { accepted: 'unavailable' }

export const answeredCalls: readonly AnsweredCalls[] = [
  {
    calls: ['wallet.openHold'],
    answers: {
      is: 'a withdrawal that nobody approves or pays',
      tests: falseAnswers,
    },
    denial: unavailable,
  },
  {
    calls: ids('wallet.creditAccount wallet.captureHold wallet.releaseHold'),
    answers: {
      is: 'told as done, named by reconciliation, never paid out',
      tests: falseAnswers,
    },
    denial: {
      is: 'nothing is told before it is done',
      tests: servicesAway,
    },
  },
  {
    calls: ids('wallet.refuseCredit wallet.openAccount'),
    answers: { accepted: 'a credit given up is still possible, an account unopened: the next posting tells' },
    denial: unavailable,
  },
  {
    calls: ids('wallet.stake'),
    answers: { accepted: "a bet is played that is in no book, or the other way: the provider's day file says so" },
    denial: unavailable,
  },
  {
    calls: ids('players.placeBet players.playSpin players.readPlaySession'),
    answers: toldProviders,
    denial: unavailable,
  },
  {
    calls: ids('wallet.creditWin wallet.rollbackBet wallet.closeRound wallet.readTransaction wallet.listHeldRounds'),
    answers: toldProviders,
    denial: unavailable,
  },
  {
    calls: ids('players.getPlayerStanding payments.readDayDeposits'),
    answers: { accepted: 'who is blocked deposits, plays, requests; people who pay see a standing of players too' },
    denial: unavailable,
  },
  {
    calls: ids(`wallet.readBalance wallet.readAccount players.readPlayerNames gateway.readOperatorNames
      webhooks.readHomologation payments.readOpenRecords`),
    answers: { accepted: 'people decide by falsehoods: what they sign is compared, what they read is not' },
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

/** The list of calls in docs/security.md. */
export const answerLines = (): readonly string[] =>
  answeredCalls.map(({ calls, answers, denial }) => {
    const names = calls.length > 6 ? 'what operators call' : calls.map((call) => call.replace(/^.*\./, '')).join(', ')
    return `- ${names}: ${saidOf(answers)}${denial === unavailable ? '' : `. Denied: ${saidOf(denial)}`}`
  })

const said = ({ by, effects: caused }: Possible) =>
  `${groups.get(caused) ?? caused.map((effect) => effects[effect]).join(', ')} (${by})`
const files = (tests: readonly string[]) => tests.map((file) => `\`${file.split('/').at(-1)}\``).join(' ')

/** The list of who may be taken over in docs/security.md. */
export const threatLines = (): readonly string[] =>
  threats.map(({ who, found, accepted }) => {
    const named = found.map((cell) => `*named*: ${said(cell)} ${files(cell.tests)}`)
    const risks = accepted.map((cell) => `${said(cell)}: ${cell.because}`)
    return `- **${who}**: ${[...named, ...risks].join('. ').replaceAll(/(?<=\. )[a-z]/g, (first) => first.toUpperCase())}`
  })
