import fc, { type IAsyncProperty } from 'fast-check'

const { RANDOM_SEED: seedAsked, RANDOM_RUNS: runsAsked } = process.env

/** Shrinking a failure stops here, so that the failure is reported before the test's own time ends. */
const reportWithinMs = 150_000

/** @param t the file's own test: more runs than by default take as long as they take */
export function allowRandomRuns(t: { setTimeout(ms: number): void }): void {
  if (runsAsked !== undefined) t.setTimeout(24 * 3_600_000)
}

interface Reported {
  comment(text: string): void
  pass(name: string): void
  fail(name: string, report: object): void
}

/** Whether this is no third of what a proof tries, as `drawn` has it. */
export const triesAll = (): boolean => process.env.EVERY_CASE === 'true' || runsAsked !== undefined

/**
 * Tries a property with random values for a few seconds, or `RANDOM_RUNS` times, and makes the values of a failure as
 * small as it can. It prints its seed: with that as `RANDOM_SEED`, and the same number of runs, it tries the same
 * values in the same order.
 */
export async function holdsForRandom<Drawn>(
  t: Reported,
  property: IAsyncProperty<Drawn>,
  { runsOfProof }: { readonly runsOfProof: number },
): Promise<void> {
  const seed = seedAsked === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedAsked)
  const numRuns = Number(runsAsked ?? (triesAll() ? runsOfProof : Math.ceil(runsOfProof / 3)))
  const plugins = runsAsked === undefined ? [fc.interruptAfterTimeLimit(reportWithinMs)] : []
  const repeat = `RANDOM_SEED=${seed} RANDOM_RUNS=${numRuns}`
  t.comment(repeat)
  const { failed, counterexample, errorInstance, numShrinks } = await fc.check(property, { seed, numRuns, plugins })
  if (!failed) t.pass(`${numRuns} runs`)
  else {
    const error = (errorInstance instanceof Error ? errorInstance.message : String(errorInstance)).split('\n')
    t.fail(`repeat it with ${repeat}`, { counterexample: fc.stringify(counterexample), numShrinks, error })
  }
}
