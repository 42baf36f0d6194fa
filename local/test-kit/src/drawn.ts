import { hash, randomInt } from 'node:crypto'

/** Each file has its own, since its process undoes what it sets of the environment. What it writes stands with its failures. */
function seedOfFile(): string {
  if (process.env.RANDOM_SEED === undefined) {
    process.env.RANDOM_SEED = String(randomInt(2 ** 31))
    process.stderr.write(`RANDOM_SEED=${process.env.RANDOM_SEED} draws the same cases, EVERY_CASE=true all of them\n`)
  }
  return process.env.RANDOM_SEED
}

/**
 * A third of the cases that a file knows, in their order: the rest is for other runs. A proof beside it sets EVERY_CASE and
 * tries all. The seed alone decides, for each list by what it has.
 * @param cases which differ in what JSON shows of them
 */
export function drawn<Case>(cases: readonly Case[]): readonly Case[] {
  if (process.env.EVERY_CASE === 'true') return cases
  const seed = seedOfFile()
  const ranks = cases.map((one) => hash('sha256', `${seed} ${JSON.stringify(one)}`))
  const last = ranks.toSorted()[Math.ceil(cases.length / 3) - 1] ?? ''
  return cases.filter((_, index) => (ranks[index] ?? '') <= last)
}
