import { type Static, type TObject, Type } from '@sinclair/typebox'
import { approvedKyc, approvedWithdrawal, confirmedDeposit, sample } from './examples.ts'
import type { ServiceName } from './operation.ts'
import {
  CalendarDate,
  ChangeSource,
  Currency,
  Deposit,
  DepositStatus,
  Id,
  KycChange,
  KycStatus,
  Money,
  PlayerStatus,
  Timestamp,
  Withdrawal,
  WithdrawalStatus,
} from './resources.ts'
import { described, Nullable, object, text } from './schema.ts'

/** So many lines of providers fit into an event, however much they turn over. */
export const providersToldMax = 14
export const otherProviders = 'others'

interface EventEntry<Data extends TObject = TObject> {
  readonly summary: string
  readonly description: string
  /** `public` events are delivered to operators; `internal` ones stay between the services. */
  readonly visibility: 'public' | 'internal'
  readonly emittedBy: ServiceName
  /**
   * The services that react to it. The broker lets no other service hear events (deploy/nats), and nobody publish one that
   * none reacts to.
   */
  readonly consumedBy: readonly ServiceName[]
  readonly data: Data
  readonly example: unknown
}

const entry = <D extends TObject, S extends ServiceName>(event: EventEntry<D> & { readonly emittedBy: S }) => event

/**
 * Rises with every change of one record. The order of deliveries is not promised, so a receiver drops an event that is
 * older than the one of its type that it has: those of another type tell of something else.
 */
const version = Type.Integer({
  minimum: 1,
  description: 'Rises per record; drop an event older than one of its type that you have.',
})

/** Every event kind, its payload and when it is emitted. */
export const events = {
  'kyc.status_changed': entry({
    summary: 'The KYC status of a player changed',
    description:
      'Sent when the team, or the sandbox decision route, changes the KYC status of a player. `submissions` contains only the latest submission.',
    visibility: 'public',
    emittedBy: 'players',
    consumedBy: ['webhooks'],
    data: object({ ...KycChange.properties, previousStatus: described(KycStatus, 'The status before.'), version }),
    example: { ...approvedKyc, previousStatus: 'em_analise', version: 2 },
  }),
  'player.status_changed': entry({
    summary: 'The status of a player changed',
    description:
      'Sent when our team changes the status of a player, and when a self-exclusion begins or ends: for every player of the brand with the same CPF, for others than the excluded one within a minute.',
    visibility: 'public',
    emittedBy: 'players',
    consumedBy: ['webhooks'],
    data: object({
      playerId: described(Id, 'The player.'),
      status: described(PlayerStatus, 'The status from `changedAt` on.'),
      previousStatus: described(PlayerStatus, 'The status before.'),
      changedAt: described(Timestamp, 'When it changed.'),
      source: ChangeSource,
      version,
    }),
    example: {
      playerId: sample.playerId,
      status: 'autoexcluido',
      previousStatus: 'ativo',
      changedAt: '2026-03-02T12:09:00.000Z',
      source: 'team',
      version: 3,
    },
  }),
  'player.limit_changed': entry({
    summary: 'The daily deposit limit of a player changed',
    description:
      'Sent when our team enters a daily deposit limit. A first or lower one holds at once, a higher one or none from `effectiveAt` on, unless a later event replaces it.',
    visibility: 'public',
    emittedBy: 'players',
    consumedBy: ['webhooks'],
    data: object({
      playerId: described(Id, 'The player.'),
      currency: described(Currency, 'Of the amounts (ISO 4217).'),
      dailyDepositLimit: Nullable(Money, 'The limit from `effectiveAt` on. Null: none.'),
      previousDailyDepositLimit: Nullable(Money, 'The limit that holds until then. Null: none.'),
      effectiveAt: described(Timestamp, 'From when on the limit holds.'),
      changedAt: described(Timestamp, 'When it was entered.'),
      source: ChangeSource,
      version,
    }),
    example: {
      playerId: sample.playerId,
      currency: 'BRL',
      dailyDepositLimit: '500.00',
      previousDailyDepositLimit: '200.00',
      effectiveAt: '2026-03-03T12:09:00.000Z',
      changedAt: '2026-03-02T12:09:00.000Z',
      source: 'team',
      version: 4,
    },
  }),
  'deposit.confirmed': entry({
    summary: 'A deposit was confirmed',
    description: 'Sent after the wallet was credited: when you receive it, the wallet already shows the money.',
    visibility: 'public',
    emittedBy: 'payments',
    consumedBy: ['webhooks'],
    data: object({ ...Deposit.properties, previousStatus: described(DepositStatus, 'The status before.'), version }),
    example: { ...confirmedDeposit, previousStatus: 'pending', version: 2 },
  }),
  'withdrawal.status_changed': entry({
    summary: 'A withdrawal changed status',
    description: 'Sent for every change of status, cancellation included; the creation itself sends nothing.',
    visibility: 'public',
    emittedBy: 'payments',
    consumedBy: ['webhooks'],
    data: object({
      ...Withdrawal.properties,
      previousStatus: described(WithdrawalStatus, 'The status before.'),
      version,
    }),
    example: { ...approvedWithdrawal, previousStatus: 'under_review', version: 2 },
  }),
  'play.day_closed': entry({
    summary: "A day's play of a brand is complete",
    description:
      'Sent once for each day of the brand with any play, after the day has ended and all of it is booked. The sums are those of the ledger.',
    visibility: 'public',
    emittedBy: 'wallet',
    consumedBy: ['webhooks'],
    data: object({
      day: described(CalendarDate, 'The day, in the time zone of the brand.'),
      providers: Type.Array(
        object({
          providerId: described(
            Id,
            `The provider of the games; \`${otherProviders}\` for all beyond the ${providersToldMax} with the highest bets.`,
          ),
          currency: described(Currency, 'Of the amounts (ISO 4217).'),
          rounds: Type.Integer({ description: 'Rounds that were opened on this day.' }),
          bets: described(Money, 'What players staked.'),
          wins: described(Money, 'What they won.'),
          rollbacks: described(Money, 'Stakes that were given back.'),
          jackpots: described(Money, 'Jackpots that were paid.'),
          promotions: described(Money, 'Prizes that were paid.'),
          ggr: described(Money, 'Bets without wins and rollbacks.'),
        }),
        { maxItems: providersToldMax + 1, description: 'A line for each provider and currency.' },
      ),
      version,
    }),
    example: {
      day: '2026-03-02',
      providers: [
        {
          providerId: sample.providerId,
          currency: 'BRL',
          rounds: 1200,
          bets: '2400.00',
          wins: '2250.00',
          rollbacks: '4.00',
          jackpots: '0.00',
          promotions: '25.00',
          ggr: '146.00',
        },
      ],
      version: 1,
    },
  }),
  'webhook.test': entry({
    summary: 'A test delivery',
    description: 'Sent when you call POST /webhooks/test, to validate the URL and the signature check.',
    visibility: 'public',
    emittedBy: 'webhooks',
    // Webhooks delivers it while the request waits, so it never goes through the stream.
    consumedBy: [],
    data: object({ message: text(200, { description: 'A greeting.' }) }),
    example: { message: 'This is a test delivery.' },
  }),
} as const

export type EventKind = keyof typeof events
export type EventData<K extends EventKind> = Static<(typeof events)[K]['data']>
export const eventKinds = Object.keys(events) as EventKind[]
/** What operators receive, and what the public documents name. */
export const publicEventKinds = eventKinds.filter((kind) => events[kind].visibility === 'public')
