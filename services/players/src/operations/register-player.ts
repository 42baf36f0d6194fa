import { cpfDigits, operations, Rejection } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { calendarDay, isAdult } from '../domain/age.ts'
import { PlayerEntity } from '../storage/entities.ts'
import { insertPlayer } from '../storage/insert-player.ts'
import { publicPlayer } from '../views/player.ts'

/** Registers a player and opens the wallet: the reply is given once the account is there. */
export const registerPlayer = command(operations.players.registerPlayer, {
  async execute({ input, scope }, { em, sql, now, newId, send }) {
    if (!isAdult(input.birthDate, calendarDay(now, scope.timeZone))) {
      const issues = [{ path: '/birthDate', message: 'the player must be over 18' }]
      throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
    }
    const { operatorId, brandId, environment, currency, timeZone } = scope
    const player = {
      ...{ id: newId('ply'), operatorId, brandId, environment, currency, timeZone },
      ...{ externalId: input.externalId, name: input.name, email: input.email, cpf: cpfDigits(input.cpf) ?? input.cpf },
      ...{ phone: input.phone ?? null, birthDate: input.birthDate, createdAt: now },
    }
    // The unique (brand, externalId) decides between two at once; the loser has waited for the winner's commit.
    if (!(await insertPlayer(sql, player))) {
      const existing = await em.findOneOrFail(
        PlayerEntity,
        { brandId, externalId: input.externalId },
        { fields: ['id'] },
      )
      throw new Rejection('PLAYER_ALREADY_EXISTS', { playerId: existing.id })
    }
    send({ operation: operations.wallet.openAccount, aggregate: player.id, scope, input: { playerId: player.id } })
    return publicPlayer(await em.findOneOrFail(PlayerEntity, { id: player.id }))
  },
})
