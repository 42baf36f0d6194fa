import type { PostingOutcome } from './posting.ts'

/** An outcome that cannot be but for a bug, a sender's or ours: nothing was posted, and the caller will try again. */
export function unexpected(result: PostingOutcome, what: string): Error {
  return new Error(`${what}: ${result.outcome === 'fault' ? result.message : `unexpectedly ${result.outcome}`}`)
}
