import type { Operation } from '@backoffice/contracts'
import { AddressRanges, writtenRange } from '@backoffice/process/addresses'
import type { ReadDb } from '@backoffice/service-runtime'
import { objectOf } from '@backoffice/team-access/identity'
import type { KeyedFound } from './check.ts'
import { type CalledFor, type CallsShown, callsIn, findUnproven, type Judging } from './signed-calls.ts'
import { overlapMs } from './sources.ts'

// What the team has set, in production: a setting is what the last call says that set it, and that call was signed. What the
// run before has seen is compared by its value only. Calls have the times at which their transactions began, and the one that
// began first may have got the lock last. Each has signed what it saw there, so together they say which was last.

export interface SettingCall {
  readonly auditId: string
  readonly at: Date
  readonly operation: string
  readonly subject: string | null
  readonly input: Readonly<Record<string, unknown>>
  readonly changes: unknown
}

/** The calls that were done about some subjects, in their order. */
export async function readCalls(db: ReadDb, shown: CallsShown, subjects: readonly string[]) {
  const rows = await db<SettingCall>`
    select e.id as audit_id, e.at, e.operation, e.subject, e.input, e.changes from ${callsIn(shown)} e
    where e.subject = any(${subjects}::text[]) and e.outcome = 'done' order by e.at, e.id
  `
  const of = Map.groupBy(
    rows.map((row) => ({ ...row, input: objectOf(row.input) })),
    ({ subject }) => subject,
  )
  return (subject: string): readonly SettingCall[] => of.get(subject) ?? []
}

/** Judges what stands under some keys. */
export type Find = (db: ReadDb, keys: readonly string[], run: Judging) => Promise<KeyedFound[]>

export const callOf = (call: SettingCall | undefined) => (call === undefined ? [] : [call])

/** Whether a call says that it made something. */
export const made = ({ changes }: SettingCall, field: string, id: string): boolean =>
  Array.isArray(changes) && changes.some((change) => objectOf(change).field === field && objectOf(change).after === id)

/** What a call that set something says, and who has to have signed it. */
type Effect = Pick<CalledFor, 'operation' | 'says' | 'takesTwo'>

/** What is there, with the calls that say so. */
export interface Setting {
  readonly key: string
  readonly brandId: string | null
  readonly subject: string
  readonly name: string
  readonly is: unknown
  /** What the calls say, or what holds without one. */
  readonly called: unknown
  /** Those that prove it. */
  readonly by: readonly SettingCall[]
  /** What says which of them was last: their times, or what each of them saw. */
  readonly order?: 'as timed' | 'as seen'
  /** Whether there must be a call. */
  readonly isMade?: boolean
  /** When it was made, where that is known. */
  readonly at?: Date
  readonly effectOf: (call: SettingCall) => Effect
}

interface SetBy {
  /** What holds without a call. */
  readonly otherwise: unknown
  readonly calls: readonly SettingCall[]
  readonly says: (call: SettingCall) => unknown
  /** What a call has seen there, and so replaced. Whoever sets something signs it. */
  readonly seen: (seen: Readonly<Record<string, unknown>>) => unknown
}

/**
 * What a setting must be. Calls that each saw what the one before had set are in order, and the last is judged with those of
 * its minutes. Where they are in no order by time, the value that none of them replaced is the last, and all are judged.
 */
export function lastOf(
  is: unknown,
  { otherwise, calls, says, seen }: SetBy,
): Pick<Setting, 'is' | 'called' | 'by' | 'order'> {
  const values = [otherwise, ...calls.map(says)]
  const replaced = calls.map(({ input }) => seen(objectOf(input.seen)))
  const left = replaced.reduce<readonly unknown[]>((rest, value) => {
    const place = rest.findIndex((one) => isSame(one, value))
    return rest.toSpliced(place < 0 ? rest.length : place, 1)
  }, values)
  const isChain = left.length === 1
  const isInOrder = replaced.every((value, place) => isSame(value, values[place]))
  if (isChain && !isInOrder) return { is, called: left[0], by: calls, order: 'as seen' }
  const last = calls.at(-1)
  const by = calls.filter((call) => call === last || (isChain && isNear(call, last)))
  return { is, called: values.at(-1), by, order: 'as timed' }
}

const isNear = (call: SettingCall, last: SettingCall | undefined): boolean =>
  last !== undefined && last.at.getTime() - call.at.getTime() <= overlapMs

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const explanation = 'A setting is not proven by the call that somebody of the team has signed.'

export async function judge(
  db: ReadDb,
  shown: CallsShown,
  settings: readonly Setting[],
  run: Judging,
): Promise<KeyedFound[]> {
  const found: KeyedFound[] = []
  const proven: CalledFor[] = []
  for (const { key, brandId, subject: of, name, is, called, by, isMade = false, order, at, effectOf } of settings) {
    const subject = `${of} ${name}`
    const isUncalled = isMade && by.length === 0
    if (!isSame(is, called) || isUncalled) {
      const expected = isUncalled ? 'a call that somebody has signed who might' : JSON.stringify(called)
      found.push({ key, found: { brandId, subject, expected, actual: JSON.stringify(is), explanation } })
    } else
      for (const call of by)
        if (order === 'as seen' || run.since === null || run.named.has(key) || call.at >= run.since)
          proven.push({ key, brandId, subject, at: at ?? call.at, auditId: call.auditId, ...effectOf(call) })
  }
  return [...found, ...(await findUnproven(db, shown, proven, { run, explanation }))]
}

interface Row {
  readonly id: string
  readonly brandId: string | null
  /** What calls about it name. */
  readonly says: Readonly<Record<string, unknown>>
  readonly value: unknown
  readonly at?: Date
}

interface SetByCalls extends Partial<Pick<SetBy, 'otherwise' | 'seen'>> {
  readonly shown: CallsShown
  readonly operation: Operation
  readonly name: string
  readonly read: (db: ReadDb, keys: readonly string[]) => Promise<readonly Row[]>
  /** What a call sets. */
  readonly said: (call: SettingCall) => unknown
  /** Whether it takes two people, as the input does not show. */
  readonly takesTwo?: (call: SettingCall) => boolean
}

/** What stands there because of the last call about it. Where nothing is said to hold without one, there is no such row. */
export const findSet =
  ({ shown, operation, name, read, said, seen, otherwise, takesTwo = () => false }: SetByCalls): Find =>
  async (db, keys, run) => {
    const rows = await read(db, keys)
    const subjects = rows.flatMap(({ says }) => Object.values(says).map(String))
    const of = await readCalls(db, shown, [...new Set(subjects)])
    const settings = rows.map(({ id, brandId, says, value, at }): Setting => {
      // A call is about the first id that it names.
      const named = [...new Set(Object.values(says).map(String))].flatMap(of)
      const calls = named.filter(
        (call) =>
          call.operation === operation.id && Object.entries(says).every(([field, one]) => call.input[field] === one),
      )
      const last = calls.at(-1)
      const before = otherwise === undefined ? seen?.(objectOf(calls[0]?.input.seen)) : otherwise
      const set =
        seen === undefined || (last === undefined && otherwise === undefined)
          ? { is: value, called: last && said(last), by: callOf(last) }
          : lastOf(value, { otherwise: before, calls, says: said, seen })
      return {
        ...{ key: id, brandId, subject: id, name, isMade: otherwise === undefined, ...set, ...(at && { at }) },
        effectOf: (call) => ({ operation, says, takesTwo: takesTwo(call) }),
      }
    })
    return judge(db, shown, settings, run)
  }

const rangesOf = ({ allowedAddresses }: SettingCall['input']): readonly (string | null)[] =>
  Array.isArray(allowedAddresses) ? allowedAddresses.map((range) => writtenRange(String(range))) : []

/** Whether ranges permit what those before did not. An empty list permits any address. */
function isWidened(before: readonly (string | null)[], after: readonly (string | null)[]): boolean {
  if (before.length === 0) return false
  const permitted = new AddressRanges(before.filter((range) => range !== null))
  return after.length === 0 || !after.every((range) => range !== null && permitted.covers(range))
}

/** What the team has agreed with an operator or with a provider of games. */
export interface Terms {
  readonly id: string
  readonly name: string
  readonly allowedAddresses: readonly string[]
  readonly suspended: boolean
  readonly numbers: Readonly<Record<string, number>>
}

/** The calls that say so. */
export interface TermsCalls {
  readonly creates: Operation
  readonly limits: Operation
  readonly suspends: Operation
  readonly activates: Operation
  readonly created: SettingCall | undefined
  readonly all: readonly SettingCall[]
  /** What each of them says: whom it is about. */
  readonly says: Effect['says']
  /** The numbers that hold where nothing else is said. */
  readonly defaults: Readonly<Record<string, number>>
  readonly isCreatedByTwo?: boolean
}

/** A name, and what stands as it was made where no call has changed it. */
export function settingsOfTerms(
  { id, name, suspended, allowedAddresses, numbers }: Terms,
  said: TermsCalls,
): Setting[] {
  const { creates, limits, suspends, activates, created, all, says, defaults, isCreatedByTwo = false } = said
  const of = { key: id, brandId: null, subject: id }
  const those = (...named: readonly Operation[]) =>
    all.filter(({ operation }) => named.some((one) => one.id === operation))
  const [limited, creator] = [those(limits), callOf(created)]
  const ranges = limited.filter(({ input }) => input.allowedAddresses !== undefined)
  const creation = { operation: creates, says: { name }, takesTwo: isCreatedByTwo }
  const addresses = lastOf(allowedAddresses, {
    ...{ otherwise: rangesOf(created?.input ?? {}), calls: ranges },
    ...{ says: ({ input }) => rangesOf(input), seen: (seen) => seen.allowedAddresses },
  })
  const before = (call: SettingCall) =>
    rangesOf(
      addresses.order === 'as seen'
        ? objectOf(call.input.seen)
        : ([created, ...ranges][ranges.indexOf(call)]?.input ?? {}),
    )
  /** Without a call that changes it, it is as it was made. */
  const orMade = (setting: ReturnType<typeof lastOf>) =>
    setting.by.length === 0 ? { ...setting, by: creator } : setting
  return [
    {
      ...of,
      name: creates.id.replace(/^create/, '').toLowerCase(),
      is: name,
      called: name,
      isMade: true,
      by: creator,
      effectOf: () => creation,
    },
    {
      ...{ ...of, name: 'allowedAddresses', ...orMade(addresses) },
      effectOf: (call) =>
        call === created
          ? creation
          : { operation: limits, says, takesTwo: isWidened(before(call), rangesOf(call.input)) },
    },
    ...Object.entries(numbers).map(
      ([field, number]): Setting => ({
        ...{ ...of, name: field },
        ...orMade(
          lastOf(number, {
            otherwise: created?.input[field] ?? defaults[field],
            calls: limited.filter(({ input }) => input[field] !== undefined),
            ...{ says: ({ input }) => input[field], seen: (seen) => seen[field] },
          }),
        ),
        effectOf: (call) => (call === created ? creation : { operation: limits, says }),
      }),
    ),
    {
      ...{ ...of, name: 'suspended' },
      ...lastOf(suspended, {
        ...{ otherwise: false, calls: those(suspends, activates) },
        ...{ says: ({ operation }) => operation === suspends.id, seen: ({ status }) => status === 'suspended' },
      }),
      effectOf: ({ operation }) => ({ operation: operation === suspends.id ? suspends : activates, says }),
    },
  ]
}
