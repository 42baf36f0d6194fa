import {
  apiVersion,
  credentialsShownMax,
  homologationCheckNames,
  homologationChecks,
  type OperatorRecord,
  type operations,
  type Reply,
  type Scope,
} from '@backoffice/contracts'
import { type ReadDb, withIsoTimes } from '@backoffice/service-runtime'
import type { OperatorEntity } from './entities.ts'
import { type DefaultQuotas, type Proof, proofsByCheck, quotasOf } from './operator.ts'
import type { findUses } from './records.ts'
import { findCredentialUses, type OperatorWithBrands } from './records.ts'

/** Operators as the team reads them: with the last use of each key. */
export async function showOperators(db: ReadDb, operators: readonly OperatorWithBrands[]): Promise<OperatorRecord[]> {
  const uses = await findCredentialUses(db, operators.flatMap(credentialIdsOf))
  return operators.map((operator) => showOperator(operator, uses))
}

/** What an operator's calls have stored today in one environment, and what they may. */
export function showUse(use: Awaited<ReturnType<typeof findUses>>[number], defaults: DefaultQuotas) {
  const { environment, bytes, rows } = use
  const quotas = quotasOf(use, environment, defaults)
  return { environment, bytes, bytesMax: quotas.bytes, rows, rowsMax: quotas.rows }
}

const credentialIdsOf = ({ brands }: OperatorWithBrands): string[] =>
  brands.getItems().flatMap((brand) => brand.credentials.getItems().map(({ id }) => id))

/** What the team changes of an operator. */
export const showTerms = (operator: OperatorEntity) => ({
  name: operator.name,
  status: operator.suspendedAt ? ('suspended' as const) : ('active' as const),
  rateLimitPerMinute: operator.rateLimitPerMinute,
  storedMebibytesPerDay: operator.storedMebibytesPerDay ?? null,
  storedRowsPerDay: operator.storedRowsPerDay ?? null,
  allowedAddresses: [...operator.allowedAddresses],
  replayProtection: operator.replayProtection ? ('on' as const) : ('off' as const),
})

/** An operator as the team sees it: with brands and credentials, without secrets. */
export function showOperator(
  operator: OperatorWithBrands,
  uses?: Awaited<ReturnType<typeof findCredentialUses>>,
): OperatorRecord {
  // Their ids are made in the same millisecond, so the order of ids is no order.
  const brands = operator.brands.getItems().toSorted((a, b) => a.environment.localeCompare(b.environment))
  return {
    id: operator.id,
    ...showTerms(operator),
    createdAt: operator.createdAt.toISOString(),
    brands: brands.map(({ id, environment, name, currency, timeZone }) => {
      return { id, environment, name, currency, timeZone }
    }),
    credentials: shownCredentials(
      brands.flatMap((brand) =>
        brand.credentials.getItems().map(({ id, key, createdAt, revokedAt = null }) => {
          const use = uses === undefined ? {} : { lastUsedAt: uses.get(id) ?? null }
          return withIsoTimes({ key, environment: brand.environment, createdAt, revokedAt, ...use })
        }),
      ),
    ),
  }
}

/** When there are very many credentials: those in use first, then the newest. */
function shownCredentials(credentials: OperatorRecord['credentials']): OperatorRecord['credentials'] {
  if (credentials.length <= credentialsShownMax) return credentials
  const inUse = ({ revokedAt }: (typeof credentials)[number]) => Number(revokedAt === null)
  return credentials
    .sort((a, b) => inUse(b) - inUse(a) || b.createdAt.localeCompare(a.createdAt))
    .slice(0, credentialsShownMax)
}

/** Who a credential stands for. */
export function showMe({
  scope,
  operatorName,
  brandName,
}: {
  readonly scope: Scope
  readonly operatorName: string
  readonly brandName: string
}): Reply<typeof operations.gateway.getMe> {
  return {
    operator: { id: scope.operatorId, name: operatorName, environment: scope.environment },
    brand: { id: scope.brandId, name: brandName, currency: scope.currency, isSandbox: scope.environment === 'sandbox' },
    apiVersion,
  }
}

export const isLive = ({ brands }: OperatorWithBrands): boolean =>
  brands.getItems().some(({ environment, credentials }) => environment === 'production' && credentials.length > 0)

/** What the sandbox traffic of an operator has proved. @param baseUrl with the /api/v1 prefix */
export function showHomologationOf(
  operator: OperatorWithBrands,
  proofs: readonly Proof[],
  { webhooksAnswered, baseUrl }: { readonly webhooksAnswered: boolean; readonly baseUrl: string },
): Reply<typeof operations.gateway.showHomologation> {
  const proved = proofsByCheck(proofs)
  return {
    operatorId: operator.id,
    name: operator.name,
    proved: proved.size,
    isLive: isLive(operator),
    webhooksAnswered,
    checks: homologationCheckNames.map((check) => {
      const [section, toDo] = homologationChecks[check]
      const { firstAt = null, lastAt = null, proof = null } = proved.get(check) ?? {}
      return { check, toDo, guide: `${baseUrl}/docs/go-live#${section}`, ...withIsoTimes({ firstAt, lastAt, proof }) }
    }),
  }
}
