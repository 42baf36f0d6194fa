import fc, { type IAsyncProperty } from 'fast-check'

const { RANDOM_SEED: seedAsked, RANDOM_RUNS: runsAsked } = process.env

const newSeed = () => (seedAsked === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedAsked))

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

/**
 * Tries a property with random values for a few seconds, or `RANDOM_RUNS` times, and makes the values of a failure as
 * small as it can. It prints its seed: with that as `RANDOM_SEED`, and the same number of runs, it tries the same
 * values in the same order.
 */
export async function holdsForRandom<Drawn>(
  t: Reported,
  property: IAsyncProperty<Drawn>,
  { runsByDefault }: { readonly runsByDefault: number },
): Promise<void> {
  const seed = newSeed()
  const numRuns = Number(runsAsked ?? runsByDefault)
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

let drawnBy: number | undefined

/**
 * A third of the deaths that a file knows, in their order: the rest is for other runs. A proof beside it sets EVERY_DEATH
 * and tries all. What a failed file wrote to standard error is shown with its failures, and so is the seed.
 */
export function drawn<Death>(deaths: readonly Death[]): readonly Death[] {
  if (process.env.EVERY_DEATH === 'true') return deaths
  if (drawnBy === undefined) {
    drawnBy = newSeed()
    process.stderr.write(`RANDOM_SEED=${drawnBy} draws the same deaths, EVERY_DEATH=true all of them\n`)
  }
  const length = Math.ceil(deaths.length / 3)
  const some = fc.subarray([...deaths], { minLength: length, maxLength: length })
  // Two lists of one length are not drawn from alike.
  drawnBy += 1
  return fc.sample(some, { seed: drawnBy, numRuns: 1 })[0] ?? []
}
