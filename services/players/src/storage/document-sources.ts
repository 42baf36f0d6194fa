import { randomBytes } from 'node:crypto'
import { documentRoles, type Environment, type TeamRole } from '@backoffice/contracts'
import { type Db, type Place, type ReadDb, type SealedTable, sql, unnest } from '@backoffice/service-runtime'
import type { DocumentSource } from '../domain/document-link.ts'

/** An operator in one environment. */
export interface SourceKey {
  readonly operatorId: string
  readonly environment: Environment
}

interface StoredSource extends SourceKey {
  readonly template: string | null
  readonly sealedKey: string
  readonly keyCreatedAt: Date
  readonly templateChangedAt: Date | null
}

const nameOf = ({ operatorId, environment }: SourceKey): string => `${operatorId}/${environment}`
const placeOf = (key: SourceKey): Place => ({ column: 'document_source.sealed_key', row: nameOf(key) })

/** A new key: a prefix that says what it is, and 32 random bytes. */
const newKey = (): string => `docsec_${randomBytes(32).toString('base64url')}`

/**
 * Of several operators: where the documents of each open for somebody with these roles, by `sourceOf`. Those without links
 * are left out.
 */
export async function findSources(
  db: ReadDb,
  keys: readonly SourceKey[],
  roles: ReadonlySet<TeamRole>,
): Promise<ReadonlyMap<string, DocumentSource>> {
  if (!documentRoles.some((role) => roles.has(role))) return new Map()
  const asked = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
  const stored = await db<StoredSource & { readonly template: string }>`
    select operator_id, environment, template, sealed_key, template_changed_at from document_source
    join ${unnest('asked', asked, 'operator_id text, environment text')} using (operator_id, environment)
    where template is not null
  `
  return new Map(
    stored.map((source) => {
      const { template, sealedKey, templateChangedAt: changedAt } = source
      return [nameOf(source), { template, key: db.vault.open(sealedKey, placeOf(source)), changedAt }]
    }),
  )
}

export const sourceOf = (sources: ReadonlyMap<string, DocumentSource>, key: SourceKey): DocumentSource | undefined =>
  sources.get(nameOf(key))

type ShownSource = Pick<StoredSource, 'template' | 'keyCreatedAt'>

const byKey = ({ operatorId, environment }: SourceKey) => sql`
  select template, key_created_at from document_source where operator_id = ${operatorId} and environment = ${environment}
`

export async function readSource(db: ReadDb, key: SourceKey): Promise<ShownSource | undefined> {
  const [source] = await db<ShownSource>`${byKey(key)}`
  return source
}

/** As it is until `changeSource` changes it. */
export async function lockSource(db: Db, key: SourceKey): Promise<ShownSource | undefined> {
  const [source] = await db<ShownSource>`${byKey(key)} for no key update`
  return source
}

export interface SourceChange extends SourceKey {
  readonly template: string | null
  readonly replacesKey: boolean
  readonly now: Date
}

/** Sets the template, and makes a key if there is none or it is to be replaced. @returns the key, if it was made */
export async function changeSource(
  db: Db,
  { template, replacesKey, now, ...key }: SourceChange,
): Promise<{ readonly keyCreatedAt: Date; readonly secret: string | null }> {
  const secret = newKey()
  const sealed = db.vault.seal(secret, placeOf(key))
  const [stored] = await db<{ keyCreatedAt: Date; sealedKey: string }>`
    insert into document_source as s (operator_id, environment, template, sealed_key, key_created_at, template_changed_at)
    values (${key.operatorId}, ${key.environment}, ${template}, ${sealed}, ${now}::timestamptz, ${now}::timestamptz)
    on conflict (operator_id, environment) do update set template = excluded.template,
      template_changed_at = case when excluded.template is distinct from s.template then excluded.template_changed_at
        else s.template_changed_at end,
      sealed_key = case when ${replacesKey}::bool then excluded.sealed_key else s.sealed_key end,
      key_created_at = case when ${replacesKey}::bool then excluded.key_created_at else s.key_created_at end
    returning key_created_at, sealed_key
  `
  if (stored === undefined) throw new Error('an insert that updates on conflict returns its row')
  return { keyCreatedAt: stored.keyCreatedAt, secret: stored.sealedKey === sealed ? secret : null }
}

export const sealedSources: SealedTable = {
  table: 'document_source',
  key: 'operator_id text, environment text',
  reads: 'sealed_key text',
  writes: 'sealed_key text',
  renew({ operatorId, environment, sealedKey }, vault) {
    const renewed = vault.renew(sealedKey, placeOf({ operatorId, environment }))
    return renewed === null ? null : { sealedKey: renewed }
  },
}
