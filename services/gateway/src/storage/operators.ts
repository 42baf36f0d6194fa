import { type OperatorRecord, Rejection } from '@backoffice/contracts'
import type { EntityManager, InferEntity } from '@mikro-orm/postgresql'
import { LockMode } from '@mikro-orm/postgresql'
import { Operator } from './entities.ts'

type OperatorEntity = InferEntity<typeof Operator>

/** @throws {Rejection} OPERATOR_NOT_FOUND */
export async function lockOperator(em: EntityManager, operatorId: string): Promise<OperatorEntity> {
  const operator = await em.findOne(Operator, { id: operatorId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (operator === null) throw new Rejection('OPERATOR_NOT_FOUND')
  return operator
}

/** The operators that match, as the team sees them: with brands and credentials, without secrets. */
export async function findOperatorRecords(
  em: EntityManager,
  where: { id: string } | { name: string } | undefined,
): Promise<OperatorRecord[]> {
  const operators = await em.find(Operator, where ?? {}, { populate: ['brands.credentials'], orderBy: { name: 'asc' } })
  return operators.map((operator) => {
    const brands = operator.brands.getItems()
    return {
      id: operator.id,
      name: operator.name,
      status: operator.suspendedAt === null || operator.suspendedAt === undefined ? 'active' : 'suspended',
      rateLimitPerMinute: operator.rateLimitPerMinute,
      allowedAddresses: [...operator.allowedAddresses],
      createdAt: operator.createdAt.toISOString(),
      brands: brands.map(({ id, environment, name, currency, timeZone }) => ({
        id,
        environment: environment as 'sandbox' | 'production',
        name,
        currency,
        timeZone,
      })),
      credentials: brands.flatMap((brand) =>
        brand.credentials.getItems().map(({ key, createdAt, revokedAt }) => ({
          key,
          environment: brand.environment as 'sandbox' | 'production',
          createdAt: createdAt.toISOString(),
          revokedAt: revokedAt?.toISOString() ?? null,
        })),
      ),
    }
  })
}

/** @throws {Rejection} OPERATOR_NOT_FOUND */
export async function readOperatorRecord(em: EntityManager, operatorId: string): Promise<OperatorRecord> {
  const [record] = await findOperatorRecords(em, { id: operatorId })
  if (record === undefined) throw new Rejection('OPERATOR_NOT_FOUND')
  return record
}
