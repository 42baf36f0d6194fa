import type { Transition } from '@backoffice/contracts'
import { printRecord, printSection } from '../output.ts'

/** A deposit or withdrawal, then who changed it, when, from what to what and why. */
export function showWithHistory({ transitions, ...record }: { readonly transitions: readonly Transition[] }): void {
  printRecord(record)
  printSection('history', transitions, [
    'at',
    ['who', ({ by }) => `${by.kind} ${by.name}`],
    'from',
    'to',
    ['why', 'reason'],
  ])
}
