import { operations } from '@backoffice/contracts'
import { row } from '../row.ts'

const { setGameAvailability } = operations.players

export const games = [
  row({
    path: 'games enable',
    operation: setGameAvailability,
    description: "Put a game into a brand's catalogue",
    arguments: ['gameId'],
    fixed: { available: true },
  }),
  row({
    path: 'games disable',
    operation: setGameAvailability,
    description: "Take a game out of a brand's catalogue",
    arguments: ['gameId'],
    fixed: { available: false },
  }),
]
