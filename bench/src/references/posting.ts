import { Zipf } from '../load/zipf.ts'

/** How postings are spread: evenly over all accounts, to one account, or mostly to a few of them. */
export const distributions = ['uniform', 'hot', 'zipf'] as const
export type Distribution = (typeof distributions)[number]
export const zipfExponent = 2

/** One run of row-locking postings. */
export interface PostingRun {
  readonly url: string
  readonly distribution: Distribution
  readonly clients: number
  readonly accounts: number
  readonly seconds: number
}

export interface PostingResult {
  readonly perSecond: number
  readonly failures: Readonly<Record<string, number>>
}

/** Draws the number of the account for the next posting, from 1. */
export function accountsOf(distribution: Distribution, accounts: number): () => number {
  switch (distribution) {
    case 'uniform':
      return () => 1 + Math.floor(Math.random() * accounts)
    case 'hot':
      return () => 1
    case 'zipf': {
      const zipf = new Zipf(accounts, zipfExponent)
      return () => zipf.draw(Math.random())
    }
    default:
      throw distribution satisfies never
  }
}
