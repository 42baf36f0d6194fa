/** The limits of the specification, each written once. */
export const idempotencyKeyPattern = '^[A-Za-z0-9_:.-]{8,128}$'
/** How long a key is remembered, from its first use. */
export const idempotencyMemoryHours = 24
export const requestsPerMinuteDefault = 600
/** Of a provider of games, when nothing else is said: bets and spins, and all the rest. */
export const providerRatesDefault = { stakesPerMinute: 60_000, othersPerMinute: 120_000 } as const
/** Of an operator's brands, when nothing else is said. */
export const brandDefaults = { currency: 'BRL', timeZone: 'America/Sao_Paulo' } as const
export const webhookAttemptsMax = 8
export const bodyBytesMax = 64 * 1024

/** What one stored item may weigh as JSON: the reply of a command, an event, or a command of an outbox. */
export const storedBytesMax = 8 * 1024
/** What the fields of an operator's request may weigh in it. */
export const storedBodyBytesMax = 2 * 1024
/** The highest daily quotas that can be set. */
export const storedMebibytesMax = 1024 * 1024
export const storedRowsMax = 2_000_000_000
/**
 * What the rows of one page may weigh as JSON. The texts in them are long or short as tenants wish, and a message of the
 * broker has 1 MiB.
 */
export const pageBytesMax = 256 * 1024
/** How far the team's lists of deposits and of withdrawals go back when nothing says whose, nor from when on. */
export const listedDays = 31
/** What waits is shown in bands, each from so many hours on to the next. */
export const ageFromHours = [0, 1, 4, 24] as const
/** So many of a queue are looked at, the oldest of them, to say how old it is. */
export const agedMax = 10_000
/** What is large and odd among the withdrawals that wait: so many are shown; destinations, of so many that wait longest. */
export const oddMax = { largest: 5, shared: 5, lookedAt: 2_000, playersFrom: 3, playersCounted: 20 } as const
/** Of each operator so many refusals are counted by code, and so many pairs of both are listed. */
export const refusalsCountedMax = 500
export const refusalRowsMax = 10
/** So many raised limits are listed. */
export const raisedMax = 20
/** Of so many days the team sees how long decisions took, and of each the last ones: more say nothing else. */
export const decisionDays = 30
export const timedMax = 1_000
/** Of so many hours the team sees which events arrived in time, and of so many operators, unless it names some. */
export const arrivalsMax = { hours: 24, minutesInTime: 2, operators: 10, named: 100 } as const
/** So many days of money are read at once. */
export const moneyDays = 31
/** So many withdrawals go into one file for the bank: as many as the queue gives. */
export const filedMax = 200
/** So many deposits, or withdrawals, are read to say what a list of the team's adds up to. */
export const sumRowsMax = 10_000
/** What the submissions of one player may weigh as JSON. They are read for many players at once. */
export const submissionsBytesMax = 64 * 1024

/**
 * How far money adds up, in minor units (centavos). A balance must stay below 2^63, the end of PostgreSQL's bigint. The
 * team takes a balance to half of that at most. A player's deposits, all together, sum to a quarter at most. So there is
 * room for every deposit that was accepted, whatever happens before it is confirmed.
 */
export const balanceByTeamMax = 2n ** 62n
export const depositsOfPlayerMax = 2n ** 61n

/** Players whose names are read at once: so many fit into a reply, however long they are. */
export const namedPlayersMax = 600

/**
 * Reserved amounts with which an integrator can see, in the sandbox, what otherwise needs a real player or a real bank.
 * They mean nothing in production.
 */
export const sandboxAmounts = {
  /** A deposit of this amount is refused with RG_BLOCKED, as if the player were self-excluded. */
  depositBlocked: '1414.14',
  /** A deposit of this amount is refused with RG_BLOCKED, as if it passed the player's daily limit. */
  depositOverLimit: '1515.15',
  /** A withdrawal of this amount can be approved, but moves to `failed` on the decision `pay`. */
  withdrawalFailsOnPay: '13.13',
} as const

/**
 * Reserved amounts of a bet or a spin, with which the client of a game provider can see in the sandbox what a bad day brings:
 * on the first attempt of each transaction. The same sent again gets through.
 */
export const sandboxPlayAmounts = {
  /** It is booked, and answered with SERVICE_UNAVAILABLE. */
  failsAfter: '16.16',
  /** It is answered with SERVICE_UNAVAILABLE, and nothing is booked. */
  failsBefore: '17.17',
  /** It is booked, and answered six seconds late: later than a client waits. */
  late: '18.18',
} as const

/**
 * What an integrator may open in the sandbox to see a refusal; they are in no catalogue.
 * A session for one of the first three is refused with RG_BLOCKED, each for another reason, for the last with
 * PROVIDER_UNAVAILABLE.
 */
export const sandboxGames = {
  rgBlocked: 'sandbox-rg-blocked',
  selfExcluded: 'sandbox-self-excluded',
  overLimit: 'sandbox-over-limit',
  providerUnavailable: 'sandbox-provider-unavailable',
} as const
