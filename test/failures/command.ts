import type { Operation } from '@backoffice/contracts'
import type { World } from './world.ts'

/** Sends a command; the same key again is the same command. */
// biome-ignore lint/suspicious/noExplicitAny: what it replies depends on the operation
export type Send = (key: string) => Promise<any>

/** A command that is sent while services die. */
export interface Command {
  readonly operation: Operation
  /** What it does, where one operation does several things. */
  readonly decision?: string
  /** Makes what the command needs. */
  readonly prepare: (world: World) => Promise<Send>
  /** Tables in which a death may leave rows that nobody ever uses, and why that is no harm. */
  readonly leaves?: { readonly tables: readonly string[]; readonly because: string }
}
