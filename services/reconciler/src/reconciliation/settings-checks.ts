import { type Operation, operations, requestsPerMinuteDefault } from '@backoffice/contracts'
import { AddressRanges, writtenRange } from '@backoffice/process/addresses'
import type { ReadDb } from '@backoffice/service-runtime'
import { objectOf } from '@backoffice/team-identity'
import type { KeyedFound, Question } from './check.ts'
import { type CalledFor, type CallsShown, calls, findUnproven, type Judging } from './signed-calls.ts'

// What the team has set, in production: a setting is what the last call says that set it, and that call was signed. What the
// run before has seen is compared by its value only.

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

/** What is there, with the last call that set it. */
interface Setting {
  readonly key: string
  readonly brandId: string | null
  readonly subject: string
  readonly name: string
  readonly is: unknown
  /** What the call says, or what holds without one. */
  readonly called: unknown
  readonly call: SettingCall | undefined
  /** Whether there must be a call. */
  readonly isMade?: boolean
  /** When it was made, where that is known. */
  readonly at?: Date
  readonly operation: Operation
  readonly says: Readonly<Record<string, unknown>>
  readonly takesTwo?: boolean
}

const explanation = 'A setting is not proven by the call that somebody of the team has signed.'

async function judge(db: ReadDb, shown: CallsShown, settings: readonly Setting[], run: Judging): Promise<KeyedFound[]> {
  const found: KeyedFound[] = []
  const proven: CalledFor[] = []
  for (const { key, brandId, subject: of, name, is, called, call, isMade = false, at, ...effect } of settings) {
    const subject = `${of} ${name}`
    if (JSON.stringify(is) !== JSON.stringify(called) || (isMade && call === undefined)) {
      const expected =
        call === undefined && isMade ? 'a call that somebody has signed who might' : JSON.stringify(called)
      found.push({ key, found: { brandId, subject, expected, actual: JSON.stringify(is), explanation } })
    } else if (call !== undefined && (run.since === null || run.named.has(key) || call.at >= run.since))
      proven.push({ key, brandId, subject, at: at ?? call.at, auditId: call.auditId, ...effect })
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
  const last = (...named: readonly Operation[]) =>
    all.findLast(({ operation }) => named.some((one) => one.id === operation))
  const limited = all.filter(({ operation }) => operation === setOperatorLimits.id)
  const ranges = limited.filter(({ input }) => input.allowedAddresses !== undefined)
  const [before, now] = [created, ...ranges].slice(-2)
  const rated = limited.findLast(({ input }) => input.rateLimitPerMinute !== undefined) ?? created
  const protecting = last(setReplayProtection)
  const suspending = last(suspendOperator, activateOperator)
  const by = (call: SettingCall | undefined) =>
    call === created
      ? { call, operation: createOperator, says: { name } }
      : { call, operation: setOperatorLimits, says: { operatorId: id } }
  const addresses = ranges.length === 0 ? created : now
  return [
    {
      ...of,
      name: 'operator',
      is: name,
      called: name,
      isMade: true,
      call: created,
      operation: createOperator,
      says: { name },
    },
    {
      ...{ ...of, name: 'allowedAddresses', is: operator.allowedAddresses, called: rangesOf(addresses?.input ?? {}) },
      ...by(addresses),
      takesTwo: ranges.length > 0 && isWidened(rangesOf(before?.input ?? {}), rangesOf(now?.input ?? {})),
    },
    {
      ...{ ...of, name: 'rateLimitPerMinute', is: operator.rateLimitPerMinute, ...by(rated) },
      called: rated?.input.rateLimitPerMinute ?? requestsPerMinuteDefault,
    },
    {
      ...{ ...of, name: 'replayProtection', is: operator.replayProtection ? 'on' : 'off', call: protecting },
      ...{
        called: protecting?.input.replayProtection ?? 'off',
        operation: setReplayProtection,
        says: { operatorId: id },
      },
    },
    {
      ...{
        ...of,
        name: 'suspended',
        is: suspended,
        called: suspending?.operation === suspendOperator.id,
        call: suspending,
      },
      ...{ operation: suspending?.operation === suspendOperator.id ? suspendOperator : activateOperator },
      says: { operatorId: id },
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
      const issued = of(operatorId).find((call) => call.operation === issueCredential.id && made(call, 'key', key))
      const created = of(operatorName).find(
        (call) => call.operation === createOperator.id && made(call, 'productionKey', key),
      )
      const issue =
        issued === undefined
          ? { call: created, operation: createOperator, says: { name: operatorName }, takesTwo: !run.isDevelopment }
          : { call: issued, operation: issueCredential, says: { operatorId, environment: 'production' } }
      const revoked = of(key).find(({ operation }) => operation === revokeCredential.id)
      const revocation = { ...row, name: 'revoked key', call: revoked, operation: revokeCredential, says: { key } }
      return [
        { ...row, name: 'key', at: createdAt, ...issue },
        ...(revokedAt === null ? [] : [{ ...revocation, at: revokedAt }]),
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
      const call = of(operatorId).findLast(
        (one) => one.operation === operation.id && one.input.environment === 'production',
      )
      const says = { operatorId, environment: 'production' }
      const called = call?.input[field] ?? null
      return { key: id, brandId: null, subject: id, name: field, is: place, called, call, operation, says }
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
