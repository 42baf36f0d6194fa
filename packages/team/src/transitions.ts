import type { Transition } from '@backoffice/contracts'
import { printTable } from './output.ts'

/** Who changed a record, when, from what to what and why. */
export function printTransitions(transitions: readonly Transition[]): void {
  process.stdout.write('\nhistory\n')
  printTable(transitions, [
    ['at', ({ at }) => at],
    ['who', ({ by }) => `${by.kind} ${by.name}`],
    ['from', ({ from }) => from],
    ['to', ({ to }) => to],
    ['why', ({ reason }) => reason],
  ])
}
