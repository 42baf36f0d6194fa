import type { PostingOutcome } from './posting.ts'

/** An outcome that only a bug can cause. Nothing was posted, and the caller will try again. */
export function unexpected(result: PostingOutcome, what: string): Error {
  return new Error(`${what}: ${result.outcome === 'fault' ? result.message : `unexpectedly ${result.outcome}`}`)
}
