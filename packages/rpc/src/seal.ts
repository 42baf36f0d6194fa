import { headerNames, type Operation, Rejection } from '@backoffice/contracts'
import { sealerTo, type TeamCaller } from '@backoffice/team-identity'
import type { Msg } from '@nats-io/transport-node'

/**
 * Seals the reply to a call: replies go to an inbox that every connection of the caller's user may hear.
 * @returns a function of the reply as JSON
 * @throws {Rejection} VALIDATION_ERROR when the call does not say to which key, before anything is done
 */
export async function sealOf(
  { audience }: Operation,
  caller: TeamCaller | undefined,
  { headers }: Pick<Msg, 'headers'>,
): Promise<(json: string) => Promise<string>> {
  const seal = await sealerTo(audience === 'team' ? caller?.sealTo : keyIn(headers?.get(headerNames.sealTo)))
  if (seal !== undefined) return async (json) => JSON.stringify(await seal(json))
  const issues = [{ path: 'sealTo', message: 'must be a public P-256 key: the reply is sealed to it' }]
  throw new Rejection('VALIDATION_ERROR', { in: 'headers', issues })
}

function keyIn(header: string | undefined): unknown {
  try {
    return JSON.parse(header ?? '')
  } catch {
    return undefined
  }
}
