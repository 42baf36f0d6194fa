import type { Command } from './command.ts'
import { derivedCommands } from './derived-commands.ts'
import { operatorCommands } from './operator-commands.ts'
import { teamCommands } from './team-commands.ts'

const byHand: readonly Command[] = [...operatorCommands, ...teamCommands]

/** Every command of the operation table that a client sends, and some of them in several ways. */
export const commands: readonly Command[] = [...byHand, ...derivedCommands(byHand)]
