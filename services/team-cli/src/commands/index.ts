import type { AnyRow } from '../row.ts'

/** A group of commands, what it is about, and its commands, which are loaded when they are wanted. */
type Group = readonly [name: string, description: string, load: () => Promise<readonly AnyRow[]>]

const operators = () => import('./operators.ts')
const payments = () => import('./payments.ts')
const play = () => import('./play.ts')
const players = () => import('./players.ts')
const proposals = () => import('./proposals.ts')
const team = () => import('./team.ts')
const wallet = () => import('./wallet.ts')
const webhooks = () => import('./webhooks.ts')

/** In the order of --help. */
export const groups: readonly Group[] = [
  ['operators', 'Operators: who may call the API', async () => (await operators()).operators],
  [
    'credentials',
    'Keys and secrets. To rotate: issue, let the operator switch, revoke.',
    async () => (await operators()).credentials,
  ],
  [
    'requests',
    'What operators were refused, by request id, and what an Idempotency-Key did',
    async () => (await operators()).requests,
  ],
  ['secrets', 'Secrets at rest', async () => (await operators()).secrets],
  ['kyc', 'Identity checks', async () => (await players()).kyc],
  ['players', 'Players: status, self-exclusion, limits', async () => (await players()).players],
  [
    'games',
    "Games: a brand's catalogue, and who serves them for money",
    async () => [...(await play()).gameProvider, ...(await operators()).games],
  ],
  [
    'providers',
    'Providers of games: keys, limits, and the brands that they were granted',
    async () => (await play()).providers,
  ],
  ['rounds', 'Rounds of games: what was staked and won, play by play', async () => (await play()).rounds],
  ['wins', 'Wins that are held, and from which amount', async () => (await play()).wins],
  ['play', 'Stakes, wins and GGR by day', async () => (await play()).play],
  ['deposits', 'Deposits', async () => (await payments()).deposits],
  ['withdrawals', 'Withdrawals: the review queue and its decisions', async () => (await payments()).withdrawals],
  ['wallet', 'Ledger entries, corrections, reconciliation', async () => (await wallet()).wallet],
  ['statement', "An operator's ledger", async () => (await wallet()).statement],
  ['webhook', "An operator's webhook endpoint, one per environment", async () => (await webhooks()).webhook],
  ['deliveries', 'Webhook deliveries', async () => (await webhooks()).deliveries],
  ['events', 'Events', async () => (await webhooks()).events],
  ['messages', 'Messages that could not be handled', async () => (await webhooks()).messages],
  ['commands', 'Commands of an outbox that their receiver has not done', async () => (await webhooks()).commands],
  ['proposals', 'What takes two people, and waits for the second', async () => (await proposals()).proposals],
  ['audit', "The team's actions: who did what, when and why", async () => (await team()).audit],
  ['sessions', 'Sessions of the team: who was here, your own, and who is locked', async () => (await team()).sessions],
]

/** Every command of the team. */
export const allRows = async (): Promise<readonly AnyRow[]> =>
  (await Promise.all(groups.map(([, , load]) => load()))).flat()
