import { type Operation, operations, requestsPerMinuteDefault } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import type { KeyedFound, Question } from './check.ts'
import { providerSettings } from './provider-settings.ts'
import { judge, lastOf, made, readCalls, type Setting, type SettingCall, settingsOfTerms } from './setting-calls.ts'
import type { CallsShown, Judging } from './signed-calls.ts'

interface OperatorRow {
  readonly id: string
  readonly name: string
  readonly rateLimitPerMinute: number
  readonly allowedAddresses: readonly string[]
  readonly replayProtection: boolean
  readonly suspended: boolean
}

const { createOperator, setOperatorLimits, setReplayProtection, suspendOperator, activateOperator } = operations.gateway
const callsOfTerms = {
  creates: createOperator,
  limits: setOperatorLimits,
  suspends: suspendOperator,
  activates: activateOperator,
}

async function findOperators(db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> {
  const operators = await db<OperatorRow>`
    select id, name, rate_limit_per_minute, allowed_addresses, replay_protection, suspended
    from gateway.reconcilable_operator where id = any(${keys}::text[])
  `
  const subjects = operators.flatMap(({ id, name }) => [id, name])
  const of = await readCalls(db, 'operators', subjects)
  const settings = operators.flatMap(({ id, name, rateLimitPerMinute, replayProtection, ...terms }): Setting[] => {
    const created = of(name).find((call) => call.operation === createOperator.id && made(call, 'operatorId', id))
    const says = { operatorId: id }
    const defaults = { rateLimitPerMinute: requestsPerMinuteDefault }
    const said = { ...callsOfTerms, created, all: of(id), says, defaults }
    return [
      ...settingsOfTerms({ id, name, ...terms, numbers: { rateLimitPerMinute } }, said),
      {
        ...{ key: id, brandId: null, subject: id, name: 'replayProtection' },
        ...lastOf(replayProtection ? 'on' : 'off', {
          ...{ otherwise: 'off', calls: of(id).filter(({ operation }) => operation === setReplayProtection.id) },
          ...{ says: ({ input }) => input.replayProtection, seen: (seen) => seen.replayProtection },
        }),
        effectOf: () => ({ operation: setReplayProtection, says }),
      },
    ]
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

/** Where something of an operator goes, as its table says: what the last call says that set it there. */
const findPlaces =
  (shown: CallsShown, operation: Operation, field: string, table: string) =>
  async (db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> => {
    const rows = await db<PlaceRow>`
      select id, operator_id, ${sql.fixed(field)} as place from ${sql.fixed(table)}
      where id = any(${keys}::text[]) and environment = 'production'
    `
    const operatorIds = rows.map(({ operatorId }) => operatorId)
    const of = await readCalls(db, shown, operatorIds)
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

const { webhooks, players } = operations
const findEndpoints = findPlaces('endpoints', webhooks.setWebhookUrl, 'url', 'webhooks.reconcilable_endpoint')
const sources = 'players.reconcilable_document_source'
const findDocumentSources = findPlaces('settings', players.setDocumentUrl, 'template', sources)

/** Of operators and providers of games with their keys, webhook addresses and where documents open. */
export const signedSettings = (run: Judging): readonly Question[] =>
  Object.entries({
    operator: findOperators,
    credential: findCredentials,
    endpoint: findEndpoints,
    documentSource: findDocumentSources,
    ...providerSettings,
  }).map(([kind, find]) => ({
    // A proof takes no setting for plain, no round that the team has ended, and no win that may be above a limit.
    ...{ check: 'signatures', counts: true, plain: true, kind: kind as Question['kind'] },
    find: (db, keys) => find(db, keys, run),
  }))
