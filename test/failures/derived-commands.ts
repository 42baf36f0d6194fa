import { randomUUID } from 'node:crypto'
import { allOperations, type Operation } from '@backoffice/contracts'
import { newDeposit, newOperator, newPlayer, newWithdrawal, reason } from './records.ts'
import type { Command, World } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a field of a command names is made, by the field's name. */
const made: Readonly<Record<string, (world: World) => Promise<Fields>>> = {
  playerId: async (world) => ({ playerId: await newPlayer(world) }),
  depositId: async (world) => ({ depositId: await newDeposit(world) }),
  withdrawalId: async (world) => ({ withdrawalId: await newWithdrawal(world) }),
  operatorId: async (world) => ({ operatorId: (await newOperator(world)).operatorId }),
  environment: async () => ({ environment: 'sandbox' }),
  reason: async () => ({ reason }),
  externalReference: async () => ({ externalReference: randomUUID() }),
}

async function fieldsOf(world: World, names: readonly string[]): Promise<Fields> {
  const fields = []
  for (const name of names) fields.push((await made[name]?.(world)) ?? {})
  return Object.assign({}, ...fields)
}

/**
 * The case of a command as its entry says it: with the example's body, but for what must exist or be new. Undefined
 * where a field can be neither made nor taken from an example: it wants a case by hand.
 */
function derived(operation: Operation): Command | undefined {
  const { audience, kind, http, params, body, example } = operation
  if (kind !== 'command' || audience === 'internal') return undefined
  const given = (example?.body ?? {}) as Fields
  const required = [...Object.keys(params.properties), ...(body.required ?? [])]
  if (required.some((name) => !(name in made) && !(name in given))) return undefined
  return {
    operation,
    prepare: async (world) => {
      const input = { ...given, ...(await fieldsOf(world, required)) }
      if (audience === 'team') return (key) => world.team(operation, input as never, key)
      // Without a key past the gateway, which would send a new operation id each time.
      if (http === undefined || operation.idempotency !== 'required')
        return (key) => world.call(operation, input as never, key)
      const path = http.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name as keyof typeof input]))
      const ownFields = Object.entries(input).filter(([name]) => !(name in params.properties))
      return (key) => world.post(path, Object.fromEntries(ownFields), key)
    },
  }
}

/** Of each command that has no case by hand, if its entry says enough. */
export function derivedCommands(byHand: readonly Command[]): readonly Command[] {
  const known = new Set(byHand.map(({ operation }) => operation))
  return allOperations.filter((operation) => !known.has(operation)).flatMap((operation) => derived(operation) ?? [])
}
