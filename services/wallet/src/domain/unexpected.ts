import type { Answer } from './posting.ts'

/** An answer that cannot be but for a bug, a sender's or ours: nothing was posted, and the caller will try again. */
export function unexpected(answer: Answer, what: string): Error {
  return new Error(`${what}: ${answer.outcome === 'fault' ? answer.message : `unexpectedly ${answer.outcome}`}`)
}
