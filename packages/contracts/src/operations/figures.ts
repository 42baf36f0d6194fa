import { Type } from '@sinclair/typebox'
import {
  ageFromHours,
  arrivalsMax,
  brandDefaults,
  decisionDays,
  moneyDays,
  oddMax,
  raisedMax,
  refusalRowsMax,
  refusalsCountedMax,
  timedMax,
} from '../limits.ts'
import { team } from '../operation.ts'
import { personal } from '../personal.ts'
import {
  CalendarDate,
  Currency,
  EnvironmentName,
  Id,
  Money,
  PersonName,
  Timestamp,
  waitingStatuses,
} from '../resources.ts'
import { arrayOf, described, listOf, Nullable, object, oneOf, optional, text } from '../schema.ts'
import { everyRole, type TeamRole } from '../team.ts'
import { operatorNameField } from './fields.ts'
import { playerNameField } from './payment-records.ts'

/** How much waits since when. */
const ageBand = {
  fromHours: Type.Integer({
    minimum: 0,
    description: `How long it waits at least: one of ${ageFromHours.join(', ')}.`,
  }),
  waiting: Type.Integer({ minimum: 1 }),
}

/** Of a queue: only what waits as long as somebody asks for. */
export const waitingPeriod = {
  from: optional(Timestamp, 'It waits since this time or later.'),
  to: optional(Timestamp, 'It waits since before this time.'),
}

const timeZoneField = {
  timeZone: optional(
    Type.String({ format: 'time-zone', maxLength: 64 }),
    `In which days begin; ${brandDefaults.timeZone} when absent.`,
  ),
}

const decisionTimes = <const Roles extends readonly TeamRole[]>(roles: Roles, decisions: string) =>
  team.query({
    roles,
    summary: `Say how long ${decisions} took, by day`,
    description: `Of ${decisionDays} days, today's included, and of each the last ${timedMax} decisions at most. A day without one is left out.`,
    body: object({ environment: EnvironmentName, ...timeZoneField }),
    reply: listOf(decisionDays, {
      day: CalendarDate,
      decided: Type.Integer({ minimum: 1 }),
      medianSeconds: Type.Integer(),
      p90Seconds: Type.Integer({ description: 'Nine of ten took no longer.' }),
    }),
  })

/** The figures of the console's pictures, each for the roles that may read what it is made of. */
export const paymentFigures = {
  ageWithdrawalQueue: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Count and sum the withdrawals that wait, by how long they have',
    description: 'Of each status the ten thousand that have waited longest.',
    body: object({ environment: EnvironmentName }),
    reply: listOf(1_000, { status: oneOf(waitingStatuses), currency: Currency, ...ageBand, amount: Money }),
  }),

  listOddWithdrawals: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'List what is large and odd among the withdrawals that wait',
    description:
      'The five largest; and, of each status among the two thousand that have waited longest, the destinations to which three players or more are paid, whatever became of the withdrawals of the others.',
    body: object({ environment: EnvironmentName }),
    reply: object({
      data: arrayOf(oddMax.largest, {
        id: Id,
        status: oneOf(waitingStatuses),
        playerId: Id,
        playerName: playerNameField,
        operatorId: Id,
        ...operatorNameField,
        amount: Money,
        currency: Currency,
        createdAt: Timestamp,
        firstWithdrawal: Type.Boolean(),
      }),
      shared: arrayOf(oddMax.shared, {
        withdrawalId: described(Id, 'The one that has waited longest: its page names the others.'),
        players: Type.Integer({ minimum: oddMax.playersFrom, description: `${oddMax.playersCounted}: or more.` }),
        waiting: Type.Integer({ minimum: 1 }),
        amount: described(Money, 'Of those that wait.'),
        currency: Currency,
      }),
    }),
    timeoutMs: 10_000,
  }),

  timeWithdrawalDecisions: decisionTimes(
    ['finance', 'compliance', 'support', 'auditor'],
    'approvals and rejections of withdrawals',
  ),
}

export const playerFigures = {
  listRaisedLimits: team.query({
    roles: ['compliance', 'support', 'auditor'],
    summary: 'List the daily deposit limits that were raised or removed since a time, newest first',
    body: object({
      environment: EnvironmentName,
      since: optional(Timestamp, 'The last 24 hours when absent.'),
    }),
    reply: listOf(raisedMax, {
      playerId: Id,
      name: PersonName,
      operatorId: Id,
      ...operatorNameField,
      currency: Currency,
      previous: Money,
      next: Nullable(Money, 'Null: no limit.'),
      at: Timestamp,
      actor: personal('staff', text(254)),
    }),
  }),

  ageKycQueue: team.query({
    roles: ['compliance', 'support', 'auditor'],
    summary: 'Count the players whose documents wait for a decision, by how long they have',
    description: 'Ten thousand of them at most.',
    body: object({ environment: EnvironmentName }),
    reply: listOf(4, ageBand),
  }),

  timeKycDecisions: decisionTimes(['compliance', 'support', 'auditor'], 'decisions of identity checks'),
}

export const walletFigures = {
  listMoneyDays: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Sum confirmed deposits and paid withdrawals by day',
    description: `Of ${moneyDays} days, each of the calendar of its brand. They are counted every minute, behind the ledger.`,
    body: object({
      environment: EnvironmentName,
      brandId: optional(Id, 'Only of this brand; of all when absent.'),
    }),
    reply: object({
      data: arrayOf(1_000, {
        day: CalendarDate,
        currency: Currency,
        deposits: Type.Integer(),
        deposited: Money,
        withdrawals: Type.Integer(),
        withdrawn: Money,
      }),
      countedUntil: Type.Optional(
        Nullable(Timestamp, 'When the first was entered that is not counted yet. Null: all are.'),
      ),
    }),
  }),

  listBalanceDays: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: "List a player's balance at the end of each day",
    description: `Of ${decisionDays} days, today's as it is now. A day before the first entry is left out.`,
    body: object({ playerId: Id, ...timeZoneField }),
    reply: listOf(decisionDays, { day: CalendarDate, balance: Money, currency: Currency }),
  }),
}

const { hours, minutesInTime, operators, named } = arrivalsMax
const arrivals = {
  events: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: hours }),
  inTime: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: hours }),
}

export const webhookFigures = {
  listDeliveryHours: team.query({
    roles: ['integration', 'support', 'auditor'],
    summary: `Count by hour the events that reached their operator within ${minutesInTime} minutes`,
    description: `Of ${hours} hours, and of the ${operators} operators to whom most came late, unless some are named. An event counts three minutes after it came, in the hour in which it was published. Tests, and what was withheld, are left out.`,
    body: object({
      environment: EnvironmentName,
      operatorIds: Type.Optional(Type.Array(text(64), { maxItems: named })),
    }),
    reply: object({
      hours: Type.Array(Timestamp, { maxItems: hours, description: 'The oldest first, as in each list below.' }),
      ...arrivals,
      data: arrayOf(named, { operatorId: Id, ...arrivals }),
    }),
  }),
}

export const gatewayFigures = {
  countRefusals: team.query({
    roles: everyRole,
    summary: 'Count what operators were refused in seven days, by code',
    description: `Of each operator the last ${refusalsCountedMax} at most; the most frequent first.`,
    body: object({ environment: EnvironmentName }),
    reply: listOf(refusalRowsMax, {
      operatorId: Id,
      operatorName: text(64),
      code: text(64),
      refused: Type.Integer({ minimum: 1 }),
      lastAt: Timestamp,
    }),
  }),
}
