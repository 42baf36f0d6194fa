import { runtimeMigrations } from '@backoffice/service-runtime'
import { playerTables } from './0001-players.ts'
import { gameTables } from './0002-games.ts'

export const migrations = [
  ...runtimeMigrations('players'),
  { name: '0001_players', class: playerTables },
  { name: '0002_games', class: gameTables },
]
