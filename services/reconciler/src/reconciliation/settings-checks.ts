import { type Operation, operations, requestsPerMinuteDefault } from '@backoffice/contracts'
import { AddressRanges, writtenRange } from '@backoffice/process/addresses'
import type { ReadDb } from '@backoffice/service-runtime'
import { objectOf } from '@backoffice/team-access/identity'
import type { KeyedFound, Question } from './check.ts'
import { type CalledFor, type CallsShown, calls, findUnproven, type Judging } from './signed-calls.ts'
import { overlapMs } from './sources.ts'

// What the team has set, in production: a setting is what the last call says that set it, and that call was signed. What the
// run before has seen is compared by its value only. Calls have the times at which their transactions began, and the one that
// began first may have got the lock last. Each has signed what it saw there, so together they say which was last.

interface SettingCall {
  readonly auditId: string
  readonly at: Date
  readonly operation: string
  readonly subject: string | null
  readonly input: Readonly<Record<string, unknown>>
  readonly changes: unknown
}

/** The calls that were done about some subjects, in their order. */
async function readCalls(db: ReadDb, shown: CallsShown, subjects: readonly string[]) {
  const rows = await db<SettingCall>`
    select e.id as audit_id, e.at, e.operation, e.subject, e.input, e.changes from ${calls[shown]} e
    where e.subject = any(${subjects}::text[]) and e.outcome = 'done' order by e.at, e.id
  `
  const of = Map.groupBy(
    rows.map((row) => ({ ...row, input: objectOf(row.input) })),
    ({ subject }) => subject,
  )
  return (subject: string): readonly SettingCall[] => of.get(subject) ?? []
}

/** Whether a call says that it made something. */
const made = ({ changes }: SettingCall, field: string, id: string): boolean =>
  Array.isArray(changes) && changes.some((change) => objectOf(change).field === field && objectOf(change).after === id)

/** What a call that set something says, and who has to have signed it. */
type Effect = Pick<CalledFor, 'operation' | 'says' | 'takesTwo'>

/** What is there, with the calls that say so. */
interface Setting {
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
function lastOf(is: unknown, { otherwise, calls, says, seen }: SetBy): Pick<Setting, 'is' | 'called' | 'by' | 'order'> {
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

async function judge(db: ReadDb, shown: CallsShown, settings: readonly Setting[], run: Judging): Promise<KeyedFound[]> {
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

interface OperatorRow {
  readonly id: string
  readonly name: string
  readonly rateLimitPerMinute: number
  readonly allowedAddresses: readonly string[]
  readonly replayProtection: boolean
  readonly suspended: boolean
}

const { createOperator, setOperatorLimits, setReplayProtection, suspendOperator, activateOperator } = operations.gateway

const rangesOf = ({ allowedAddresses }: SettingCall['input']): readonly (string | null)[] =>
  Array.isArray(allowedAddresses) ? allowedAddresses.map((range) => writtenRange(String(range))) : []

/** Whether ranges permit what those before did not. An empty list permits any address. */
function isWidened(before: readonly (string | null)[], after: readonly (string | null)[]): boolean {
  if (before.length === 0) return false
  const permitted = new AddressRanges(before.filter((range) => range !== null))
  return after.length === 0 || !after.every((range) => range !== null && permitted.covers(range))
}

function settingsOf(operator: OperatorRow, created: SettingCall | undefined, all: readonly SettingCall[]): Setting[] {
  const { id, name, suspended } = operator
  const of = { key: id, brandId: null, subject: id }
  const those = (...named: readonly Operation[]) =>
    all.filter(({ operation }) => named.some((one) => one.id === operation))
  const limited = those(setOperatorLimits)
  const ranges = limited.filter(({ input }) => input.allowedAddresses !== undefined)
  const creation = { operation: createOperator, says: { name } }
  const says = { operatorId: id }
  const addresses = lastOf(operator.allowedAddresses, {
    ...{ otherwise: rangesOf(created?.input ?? {}), calls: ranges },
    ...{ says: ({ input }) => rangesOf(input), seen: (seen) => seen.allowedAddresses },
  })
  /** The ranges before a call. */
  const before = (call: SettingCall) =>
    rangesOf(
      addresses.order === 'as seen'
        ? objectOf(call.input.seen)
        : ([created, ...ranges][ranges.indexOf(call)]?.input ?? {}),
    )
  const creator = created === undefined ? [] : [created]
  /** Without a call that changes it, it is as it was made. */
  const orMade = (setting: ReturnType<typeof lastOf>) =>
    setting.by.length === 0 ? { ...setting, by: creator } : setting
  return [
    { ...of, name: 'operator', is: name, called: name, isMade: true, by: creator, effectOf: () => creation },
    {
      ...{ ...of, name: 'allowedAddresses', ...orMade(addresses) },
      effectOf: (call) =>
        call === created
          ? creation
          : { operation: setOperatorLimits, says, takesTwo: isWidened(before(call), rangesOf(call.input)) },
    },
    {
      ...{ ...of, name: 'rateLimitPerMinute' },
      ...orMade(
        lastOf(operator.rateLimitPerMinute, {
          otherwise: created?.input.rateLimitPerMinute ?? requestsPerMinuteDefault,
          calls: limited.filter(({ input }) => input.rateLimitPerMinute !== undefined),
          ...{ says: ({ input }) => input.rateLimitPerMinute, seen: (seen) => seen.rateLimitPerMinute },
        }),
      ),
      effectOf: (call) => (call === created ? creation : { operation: setOperatorLimits, says }),
    },
    {
      ...{ ...of, name: 'replayProtection' },
      ...lastOf(operator.replayProtection ? 'on' : 'off', {
        ...{ otherwise: 'off', calls: those(setReplayProtection) },
        ...{ says: ({ input }) => input.replayProtection, seen: (seen) => seen.replayProtection },
      }),
      effectOf: () => ({ operation: setReplayProtection, says }),
    },
    {
      ...{ ...of, name: 'suspended' },
      ...lastOf(suspended, {
        ...{ otherwise: false, calls: those(suspendOperator, activateOperator) },
        ...{ says: ({ operation }) => operation === suspendOperator.id, seen: ({ status }) => status === 'suspended' },
      }),
      effectOf: ({ operation }) => ({
        ...{ operation: operation === suspendOperator.id ? suspendOperator : activateOperator, says },
      }),
    },
  ]
}

async function findOperators(db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> {
  const operators = await db<OperatorRow>`
    select id, name, rate_limit_per_minute, allowed_addresses, replay_protection, suspended
    from gateway.reconcilable_operator where id = any(${keys}::text[])
  `
  const of = await readCalls(
    db,
    'operators',
    operators.flatMap(({ id, name }) => [id, name]),
  )
  const settings = operators.flatMap((operator) => {
    const created = of(operator.name).find(
      (call) => call.operation === createOperator.id && made(call, 'operatorId', operator.id),
    )
    return settingsOf(operator, created, of(operator.id))
  })
  return judge(db, 'operators', settings, run)
}

interface CredentialRow {
  readonly id: string
  readonly key: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
  readonly brandId: string
  readonly operatorId: string
  readonly operatorName: string
}

/** Every key was issued by one call, and what was revoked by another. Two people issue a key, but in development. */
async function findCredentials(db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> {
  const credentials = await db<CredentialRow>`
    select c.id, c.key, c.created_at, c.revoked_at, c.brand_id, c.operator_id, o.name as operator_name
    from gateway.reconcilable_credential c join gateway.reconcilable_operator o on o.id = c.operator_id
    where c.id = any(${keys}::text[]) and c.environment = 'production'
  `
  const subjects = credentials.flatMap(({ key, operatorId, operatorName }) => [key, operatorId, operatorName])
  const of = await readCalls(db, 'operators', subjects)
  const { issueCredential, revokeCredential } = operations.gateway
  const settings = credentials.flatMap(
    ({ id, key, createdAt, revokedAt, brandId, operatorId, operatorName }): Setting[] => {
      const row = { key: id, brandId, subject: id, is: key, called: key, isMade: true }
      const callOf = (call: SettingCall | undefined) => (call === undefined ? [] : [call])
      const issued = of(operatorId).find((call) => call.operation === issueCredential.id && made(call, 'key', key))
      const created = of(operatorName).find(
        (call) => call.operation === createOperator.id && made(call, 'productionKey', key),
      )
      const issue =
        issued === undefined
          ? { operation: createOperator, says: { name: operatorName }, takesTwo: !run.isDevelopment }
          : { operation: issueCredential, says: { operatorId, environment: 'production' } }
      const revoked = of(key).find(({ operation }) => operation === revokeCredential.id)
      const revocation = { ...row, name: 'revoked key', by: callOf(revoked) }
      return [
        { ...row, name: 'key', at: createdAt, by: callOf(issued ?? created), effectOf: () => issue },
        ...(revokedAt === null
          ? []
          : [{ ...revocation, at: revokedAt, effectOf: () => ({ operation: revokeCredential, says: { key } }) }]),
      ]
    },
  )
  return judge(db, 'operators', settings, run)
}

interface PlaceRow {
  readonly id: string
  readonly operatorId: string
  readonly place: string | null
}

/** Where something of an operator goes: what the last call says that set it there. */
const findPlaces =
  (
    shown: CallsShown,
    operation: Operation,
    field: string,
    read: (db: ReadDb, keys: readonly string[]) => Promise<PlaceRow[]>,
  ) =>
  async (db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> => {
    const rows = await read(db, keys)
    const of = await readCalls(
      db,
      shown,
      rows.map(({ operatorId }) => operatorId),
    )
    const settings = rows.map(({ id, operatorId, place }): Setting => {
      const calls = of(operatorId).filter(
        (one) => one.operation === operation.id && one.input.environment === 'production',
      )
      const says = ({ input }: SettingCall) => input[field] ?? null
      return {
        ...{ key: id, brandId: null, subject: id, name: field },
        ...lastOf(place, { otherwise: null, calls, says, seen: (seen) => seen[field] ?? null }),
        effectOf: () => ({ operation, says: { operatorId, environment: 'production' } }),
      }
    })
    return judge(db, shown, settings, run)
  }

const findEndpoints = findPlaces(
  'endpoints',
  operations.webhooks.setWebhookUrl,
  'url',
  (db, keys) => db<PlaceRow>`
  select id, operator_id, url as place from webhooks.reconcilable_endpoint
  where id = any(${keys}::text[]) and environment = 'production'
`,
)
const findDocumentSources = findPlaces(
  'settings',
  operations.players.setDocumentUrl,
  'template',
  (db, keys) => db<PlaceRow>`
  select id, operator_id, template as place from players.reconcilable_document_source
  where id = any(${keys}::text[]) and environment = 'production'
`,
)

/** Of operators, keys, webhook addresses and where documents open. */
export const signedSettings = (run: Judging): readonly Question[] =>
  Object.entries({
    operator: findOperators,
    credential: findCredentials,
    endpoint: findEndpoints,
    documentSource: findDocumentSources,
  }).map(([kind, find]) => ({
    ...{ check: 'signatures', counts: true, kind: kind as Question['kind'] },
    find: (db, keys) => find(db, keys, run),
  }))
