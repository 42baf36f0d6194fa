import type { AnyRow } from '../row.ts'
import { credentials, games, operators, requests, secrets } from './operators.ts'
import { deposits, withdrawals } from './payments.ts'
import { gameProvider, play, providers, rounds, wins } from './play.ts'
import { kyc, players } from './players.ts'
import { proposals } from './proposals.ts'
import { audit, sessions } from './team.ts'
import { statement, wallet } from './wallet.ts'
import { commands, deliveries, events, messages, webhook } from './webhooks.ts'

/** The groups of commands, what each is about, and its commands; in the order of --help. */
export const groups: readonly (readonly [name: string, description: string, rows: readonly AnyRow[]])[] = [
  ['operators', 'Operators: who may call the API', operators],
  ['credentials', 'Keys and secrets. To rotate: issue, let the operator switch, revoke.', credentials],
  ['requests', 'What operators were refused, by request id, and what an Idempotency-Key did', requests],
  ['secrets', 'Secrets at rest', secrets],
  ['kyc', 'Identity checks', kyc],
  ['players', 'Players: status, self-exclusion, limits', players],
  ['games', "Games: a brand's catalogue, and who serves them for money", [...gameProvider, ...games]],
  ['providers', 'Providers of games: keys, limits, and the brands that they were granted', providers],
  ['rounds', 'Rounds of games: what was staked and won, play by play', rounds],
  ['wins', 'Wins that are held, and from which amount', wins],
  ['play', 'Stakes, wins and GGR by day', play],
  ['deposits', 'Deposits', deposits],
  ['withdrawals', 'Withdrawals: the review queue and its decisions', withdrawals],
  ['wallet', 'Ledger entries, corrections, reconciliation', wallet],
  ['statement', "An operator's ledger", statement],
  ['webhook', "An operator's webhook endpoint, one per environment", webhook],
  ['deliveries', 'Webhook deliveries', deliveries],
  ['events', 'Events', events],
  ['messages', 'Messages that could not be handled', messages],
  ['commands', 'Commands of an outbox that their receiver has not done', commands],
  ['proposals', 'What takes two people, and waits for the second', proposals],
  ['audit', "The team's actions: who did what, when and why", audit],
  ['sessions', 'Sessions of the team: who was here, your own, and who is locked', sessions],
]

/** Every command of the team. */
export const rows = groups.flatMap(([, , rows]) => rows)
