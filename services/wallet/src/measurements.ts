import { environments } from '@backoffice/contracts'
import { type Measurement, measurement } from '@backoffice/process'
import type { ReadDb } from '@backoffice/service-runtime'
import { countHeldWins, countOldRounds, countRefusedWins } from './rounds/team-records.ts'

/** With which a win is refused for good. */
const refusedWinCodes = ['BET_REFUSED', 'ROUND_VOIDED'] as const

/** What of play waits for people: rounds that do not end, wins above the limit, and wins that were refused. */
export const unsettledPlay = (db: ReadDb): Measurement =>
  measurement({
    gauges: {
      'backoffice.play.open_rounds': { description: 'Rounds that have been open for more than 24 hours, and than 72' },
      'backoffice.play.held_wins': { description: 'Wins that wait for two people' },
      'backoffice.play.refused_wins': { description: 'Wins that were refused in the last hour, by the code' },
    },
    async read() {
      const [rounds, held, refused] = await Promise.all([countOldRounds(db), countHeldWins(db), countRefusedWins(db)])
      return {
        'backoffice.play.open_rounds': environments.flatMap((environment) => {
          const found = rounds.find((row) => row.environment === environment)
          return [
            { value: found?.over24h ?? 0, attributes: { environment, older_than: '24h' } },
            { value: found?.over72h ?? 0, attributes: { environment, older_than: '72h' } },
          ]
        }),
        'backoffice.play.held_wins': environments.map((environment) => ({
          value: held.find((row) => row.environment === environment)?.waiting ?? 0,
          attributes: { environment },
        })),
        // Zero where there was none, so that who reads it can tell that it is measured.
        'backoffice.play.refused_wins': environments.flatMap((environment) =>
          refusedWinCodes.map((code) => ({
            value: refused.find((row) => row.environment === environment && row.code === code)?.refused ?? 0,
            attributes: { environment, code },
          })),
        ),
      }
    },
  })
