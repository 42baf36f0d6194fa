import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { newPerson, newPlayer, newWithdrawal, pix, richPlayer } from './records.ts'
import type { Command } from './world.ts'

const { players, payments } = operations

export const operatorCommands: readonly Command[] = [
  // Where an Idempotency-Key is required, over HTTP: the gateway makes the operation id from the key.
  {
    operation: players.registerPlayer,
    prepare: async (world) => {
      const body = { externalId: randomUUID(), ...newPerson() }
      return (key) => world.post('/players', body, key)
    },
  },
  {
    operation: payments.requestWithdrawal,
    prepare: async (world) => {
      const path = `/players/${await richPlayer(world)}/withdrawals`
      return (key) => world.post(path, { amount: '4.00', destination: 'ana@example.com', ...pix }, key)
    },
  },
  // Without a key, past the gateway: it would send a new operation id each time, and here the same is to come twice.
  {
    operation: players.openGameSession,
    prepare: async (world) => {
      const input = { playerId: await richPlayer(world), gameId: 'fortune-reels' }
      return async (key) => {
        try {
          await world.call(players.openGameSession, input, key)
        } catch (error) {
          // Its reply is never stored, so a repetition after the effect is refused, and the caller opens another session.
          if (!(await world.isWithoutReply('players', key))) throw error
        }
      }
    },
  },
  ...(['approve', 'reject'] as const).map(
    (decision): Command => ({
      operation: payments.decideWithdrawalInSandbox,
      decision,
      prepare: async (world) => {
        const input = { withdrawalId: await newWithdrawal(world), decision }
        return (key) => world.call(payments.decideWithdrawalInSandbox, input, key)
      },
    }),
  ),
  // A key that has expired, and whose outcome nobody knows: the old operation is fenced before a new one begins.
  {
    operation: payments.abandonOperation,
    prepare: async (world) => {
      const playerId = await newPlayer(world)
      const path = `/players/${playerId}/deposits`
      const lost = randomUUID()
      const body = { amount: '10.00', externalReference: randomUUID(), ...pix }
      return async (key) => {
        // The claim of the operation that got lost, as a gateway left it a day ago.
        await world.row(
          `insert into gateway.claim (operator_id, environment, key, token, fingerprint, operation, operation_id, expires_at)
          values ($1, 'sandbox', $2, gen_random_uuid(), '', 'createDeposit', $3, now() - interval '1 s')
          on conflict do nothing`,
          [world.scope.operatorId, key, `opn_${lost}`],
        )
        return world.post(path, body, key)
      }
    },
  },
]
