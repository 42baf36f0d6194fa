import { type Operation, operations, providerRatesDefault, requestsPerMinuteDefault } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import type { Question } from './check.ts'
import { providerSettings } from './provider-settings.ts'
import {
  callOf,
  type Find,
  findSet,
  judge,
  lastOf,
  made,
  readCalls,
  type Setting,
  type SettingCall,
  settingsOfTerms,
  type Terms,
  type TermsCalls,
} from './setting-calls.ts'
import type { CallsShown, Judging } from './signed-calls.ts'

const { createOperator, setReplayProtection, issueCredential, revokeCredential } = operations.gateway
const { createProvider, issueProviderKey, revokeProviderKey } = operations.gateway

/** An operator, or a provider of games, in its table. */
interface TermsRow extends Omit<Terms, 'numbers'> {
  readonly rateLimitPerMinute?: number
  readonly replayProtection?: boolean
  readonly stakesPerMinute?: number
  readonly othersPerMinute?: number
}

interface TermsOf extends Pick<TermsCalls, 'creates' | 'limits' | 'suspends' | 'activates' | 'defaults'> {
  readonly table: string
  readonly holder: 'operatorId' | 'providerId'
  /** Whether it takes two to create one, as the input does not show. */
  readonly takesTwo?: (run: Judging) => boolean
  /** What is set of it besides. */
  readonly more?: (row: TermsRow, calls: readonly SettingCall[]) => readonly Setting[]
}

const findTerms =
  ({ table, holder, takesTwo = () => false, more = () => [], ...calls }: TermsOf): Find =>
  async (db, keys, run) => {
    const rows = await db<TermsRow>`select * from ${sql.fixed(table)} where id = any(${keys}::text[])`
    const of = await readCalls(
      db,
      'operators',
      rows.flatMap(({ id, name }) => [id, name]),
    )
    const settings = rows.flatMap((row): readonly Setting[] => {
      const { id, name } = row
      const created = of(name).find((call) => call.operation === calls.creates.id && made(call, holder, id))
      const values: Readonly<Record<string, unknown>> = { ...row }
      const numbers = Object.fromEntries(Object.keys(calls.defaults).map((field) => [field, Number(values[field])]))
      const said = { ...calls, created, all: of(id), says: { [holder]: id }, isCreatedByTwo: takesTwo(run) }
      return [...settingsOfTerms({ ...row, numbers }, said), ...more(row, of(id))]
    })
    return judge(db, 'operators', settings, run)
  }

const findOperators = findTerms({
  ...{ table: 'gateway.reconcilable_operator', holder: 'operatorId', creates: createOperator },
  limits: operations.gateway.setOperatorLimits,
  suspends: operations.gateway.suspendOperator,
  activates: operations.gateway.activateOperator,
  defaults: { rateLimitPerMinute: requestsPerMinuteDefault },
  more: ({ id, replayProtection }, calls) => [
    {
      ...{ key: id, brandId: null, subject: id, name: 'replayProtection' },
      ...lastOf(replayProtection ? 'on' : 'off', {
        ...{ otherwise: 'off', calls: calls.filter(({ operation }) => operation === setReplayProtection.id) },
        ...{ says: ({ input }) => input.replayProtection, seen: (seen) => seen.replayProtection },
      }),
      effectOf: () => ({ operation: setReplayProtection, says: { operatorId: id } }),
    },
  ],
})

const findProviders = findTerms({
  ...{ table: 'gateway.reconcilable_provider', holder: 'providerId', creates: createProvider },
  limits: operations.gateway.setProviderLimits,
  suspends: operations.gateway.suspendProvider,
  activates: operations.gateway.activateProvider,
  defaults: providerRatesDefault,
  takesTwo: ({ isDevelopment }) => !isDevelopment,
})

interface KeyRow {
  readonly id: string
  readonly key: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
  readonly brandId: string | null
  readonly holderId: string
  /** Where a key may have been made with its holder. */
  readonly holderName: string | null
}

/** Every key was issued by one call, and what was revoked by another. Two people issue a key, but in development. */
const findKeys =
  (
    read: (db: ReadDb, keys: readonly string[]) => Promise<readonly KeyRow[]>,
    holder: 'operatorId' | 'providerId',
    [issues, revokes]: readonly [issues: Operation, revokes: Operation],
  ): Find =>
  async (db, keys, run) => {
    const rows = await read(db, keys)
    const subjects = rows.flatMap(({ key, holderId, holderName }) => [
      key,
      holderId,
      ...(holderName ? [holderName] : []),
    ])
    const of = await readCalls(db, 'operators', subjects)
    const settings = rows.flatMap(({ id, key, createdAt, revokedAt, brandId, holderId, holderName }): Setting[] => {
      const row = { key: id, brandId, subject: id, is: key, called: key, isMade: true }
      const issued = of(holderId).find((call) => call.operation === issues.id && made(call, 'key', key))
      const created = of(holderName ?? '').find(
        (call) => call.operation === createOperator.id && made(call, 'productionKey', key),
      )
      const issue =
        issued === undefined && holderName !== null
          ? { operation: createOperator, says: { name: holderName }, takesTwo: !run.isDevelopment }
          : { operation: issues, says: { [holder]: holderId, environment: 'production' } }
      const by = callOf(of(key).find(({ operation }) => operation === revokes.id))
      const revocation = { ...row, name: 'revoked key', by, effectOf: () => ({ operation: revokes, says: { key } }) }
      return [
        { ...row, name: 'key', at: createdAt, by: callOf(issued ?? created), effectOf: () => issue },
        ...(revokedAt === null ? [] : [{ ...revocation, at: revokedAt }]),
      ]
    })
    return judge(db, 'operators', settings, run)
  }

const findCredentials = findKeys(
  (db, keys) => db<KeyRow>`
    select c.id, c.key, c.created_at, c.revoked_at, c.brand_id, c.operator_id as holder_id, o.name as holder_name
    from gateway.reconcilable_credential c join gateway.reconcilable_operator o on o.id = c.operator_id
    where c.id = any(${keys}::text[]) and c.environment = 'production'
  `,
  'operatorId',
  [issueCredential, revokeCredential],
)

const findProviderKeys = findKeys(
  (db, keys) => db<KeyRow>`
    select id, key, created_at, revoked_at, null as brand_id, provider_id as holder_id, null as holder_name
    from gateway.reconcilable_provider_key where id = any(${keys}::text[]) and environment = 'production'
  `,
  'providerId',
  [issueProviderKey, revokeProviderKey],
)

/** Where something of an operator goes, as its table says: what the last call says that set it there. */
const findPlaces = (shown: CallsShown, operation: Operation, name: string, table: string): Find =>
  findSet({
    ...{ shown, operation, name, otherwise: null },
    read: async (db, keys) => {
      const rows = await db<{ id: string; operatorId: string; place: string | null }>`
        select id, operator_id, ${sql.fixed(name)} as place from ${sql.fixed(table)}
        where id = any(${keys}::text[]) and environment = 'production'
      `
      return rows.map(({ id, operatorId, place }) => {
        return { id, brandId: null, says: { operatorId, environment: 'production' }, value: place }
      })
    },
    said: ({ input }) => input[name] ?? null,
    seen: (seen) => seen[name] ?? null,
  })

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
    provider: findProviders,
    providerKey: findProviderKeys,
    ...providerSettings,
  }).map(([kind, find]) => ({
    // A proof takes no setting for plain, no round that the team has ended, and no win that may be above a limit.
    ...{ check: 'signatures', counts: true, plain: true, kind: kind as Question['kind'] },
    find: (db, keys) => find(db, keys, run),
  }))
