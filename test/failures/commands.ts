import { derivedCommands } from './derived-commands.ts'
import { operatorCommands } from './operator-commands.ts'
import { teamCommands } from './team-commands.ts'
import type { Command } from './world.ts'

const byHand: readonly Command[] = [...operatorCommands, ...teamCommands]

/** Every command of the operation table that a client sends, and some of them in several ways. */
export const commands: readonly Command[] = [...byHand, ...derivedCommands(byHand)]

const movesMoney = ({ operation: { service } }: Command) => service === 'payments' || service === 'wallet'

/** The money paths are tried by `npm test`, the others by `npm run proofs`. */
export const commandsByTier = {
  money: commands.filter(movesMoney),
  others: commands.filter((command) => !movesMoney(command)),
}
