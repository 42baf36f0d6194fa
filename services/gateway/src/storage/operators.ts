import { Rejection } from '@backoffice/contracts'
import type { Db, ReadDb } from '@backoffice/service-runtime'
import type { Loaded } from '@mikro-orm/postgresql'
import type { CredentialEntity, OperatorEntity } from './entities.ts'
import { records } from './records.ts'

export type OperatorWithBrands = Loaded<OperatorEntity, 'brands.credentials'>

/** @throws {Rejection} OPERATOR_NOT_FOUND */
export async function lockOperator(db: Db, operatorId: string): Promise<OperatorEntity> {
  const { em, Operator, LockMode } = await records(db)
  const operator = await em.findOne(Operator, { id: operatorId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (operator === null) throw new Rejection('OPERATOR_NOT_FOUND')
  return operator
}

/** The operators that match, by name, with their brands and credentials. */
export async function findOperators(
  db: ReadDb,
  where: { readonly id: string } | { readonly name: string | { readonly $gt: string } },
  limit = 1,
): Promise<OperatorWithBrands[]> {
  const { em, Operator } = await records(db)
  return em.find(Operator, where, { populate: ['brands.credentials'], orderBy: { name: 'asc' }, limit })
}

/** @throws {Rejection} OPERATOR_NOT_FOUND */
export async function readOperator(
  db: ReadDb,
  where: { readonly id: string } | { readonly name: string },
): Promise<OperatorWithBrands> {
  const [operator] = await findOperators(db, where)
  if (operator === undefined) throw new Rejection('OPERATOR_NOT_FOUND')
  return operator
}

/** Unknown ids are left out. */
export function findOperatorNames(db: ReadDb, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  return db<{ id: string; name: string }>`select id, name from operator where id = any(${ids}::text[])`
}

/** Whether PostgreSQL has a time zone of this name. */
export async function isTimeZoneKnown(db: ReadDb, timeZone: string): Promise<boolean> {
  return (await db`select from pg_timezone_names where name = ${timeZone}`).length > 0
}

export async function isNameTaken(db: ReadDb, name: string): Promise<boolean> {
  const { em, Operator } = await records(db)
  return (await em.count(Operator, { name })) > 0
}

/**
 * A key under the lock of its operator, so that two revocations at once cannot each leave the other's key as the last.
 * @throws {Rejection} CREDENTIAL_NOT_FOUND
 */
export async function lockCredential(
  db: Db,
  key: string,
): Promise<{ readonly credential: CredentialEntity; readonly activeKeys: number }> {
  const { em, Credential } = await records(db)
  const credential = await em.findOne(Credential, { key }, { populate: ['brand'] })
  if (credential === null) throw new Rejection('CREDENTIAL_NOT_FOUND')
  await lockOperator(db, credential.brand.operator.id)
  await em.refresh(credential)
  return { credential, activeKeys: await em.count(Credential, { brand: credential.brand.id, revokedAt: null }) }
}
