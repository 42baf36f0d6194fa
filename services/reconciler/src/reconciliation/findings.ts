import { type Difference, differenceClasses, type Environment } from '@backoffice/contracts'
import type { OpenDifference, OpenDifferences } from '../storage/reconciliations.ts'
import { classOf, type FoundDifference, listedMax } from './check.ts'

/**
 * Which run can say whether a difference is still there: one that looks at this record of this kind, a full run, or any
 * run, where every run looks at all of it.
 */
export type Again = { readonly kind: string; readonly key: string } | 'full run' | 'any run'

interface OfCheck {
  compared: number
  readonly listed: OpenDifference[]
  /** All, listed or not. */
  readonly ofBrands: Map<string | null, number>
  /** Those that the next run has to know of. */
  readonly openOfBrands: Map<string | null, number>
}

/** So many differences are told from one another. Beyond them one that is found in two ways may count twice. */
const toldApartMax = 100_000

/** A difference as a report may have it: whoever wrote the record chose how long its texts are. */
const bounded = ({ brandId, subject, expected, actual, explanation }: FoundDifference): FoundDifference => ({
  brandId: brandId === null || brandId === '' || brandId.length > 64 ? null : brandId,
  subject: cut(subject, 256),
  expected: cut(expected, 2_000),
  actual: cut(actual, 2_000),
  explanation: cut(explanation, 500),
})
const cut = (text: string, lengthMax: number) =>
  text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`.toWellFormed()

/** What a run has compared and found so far, check by check. */
export class Findings {
  readonly #checks = new Map<string, OfCheck>()
  readonly #known = new Set<string>()

  /** @param names of the checks, in the order of the report */
  constructor(names: readonly string[]) {
    for (const name of names)
      this.#checks.set(name, { compared: 0, listed: [], ofBrands: new Map(), openOfBrands: new Map() })
  }

  compared(check: string, count: number): void {
    this.#of(check).compared += count
  }

  add(check: string, differs: FoundDifference, again: Again): void {
    const found = bounded(differs)
    // The same record may be looked at for more than one reason.
    const identity = JSON.stringify([check, found.brandId, found.subject, found.explanation])
    if (this.#known.has(identity)) return
    if (this.#known.size < toldApartMax) this.#known.add(identity)
    const { listed } = this.#of(check)
    const { kind, key } = typeof again === 'string' ? { kind: null, key: again } : again
    if (listed.length < listedMax) listed.push({ difference: { check, ...found }, kind, key })
    this.#count(check, found.brandId, { count: 1, isOpen: again !== 'any run' })
  }

  /** Differences that any run finds, beyond those that are listed. */
  addUnlisted(check: string, ofBrands: ReadonlyMap<string | null, number>): void {
    for (const [brandId, count] of ofBrands) this.#count(check, brandId, { count, isOpen: false })
  }

  /** What the run before counted and did not list. */
  addOpen(unlisted: OpenDifferences['unlisted']): void {
    for (const { check, brandId, count } of unlisted)
      if (this.#checks.has(check)) this.#count(check, brandId, { count, isOpen: true })
  }

  /** The brands that differ. */
  get brands(): readonly string[] {
    const all = [...this.#checks.values()].flatMap(({ ofBrands }) => [...ofBrands.keys()])
    return [...new Set(all)].filter((brand) => brand !== null)
  }

  /** What the next run is to look at again. */
  get open(): OpenDifferences {
    const rest = new Map<string, { check: string; brandId: string | null; count: number }>()
    const placeOf = (check: string, brandId: string | null) => JSON.stringify([check, brandId])
    for (const [check, { openOfBrands }] of this.#checks)
      for (const [brandId, count] of openOfBrands) rest.set(placeOf(check, brandId), { check, brandId, count })
    const all = [...this.#checks.values()].flatMap(({ listed }) => listed)
    const listed = all.filter(({ key }) => key !== ('any run' satisfies Again)).slice(0, listedMax)
    for (const { difference } of listed) {
      const counted = rest.get(placeOf(difference.check, difference.brandId))
      if (counted !== undefined) counted.count--
    }
    return { listed, unlisted: [...rest.values()].filter(({ count }) => count > 0) }
  }

  /** The part of a report that is about differences. */
  report(environmentOf: (brandId: string | null) => Environment) {
    const differencesIn = { sandbox: 0, production: 0 }
    const differencesOf = differenceClasses.flatMap((of) =>
      (['production', 'sandbox'] as const).map((environment) => ({ class: of, environment, differences: 0 })),
    )
    for (const [check, { ofBrands }] of this.#checks)
      for (const [brandId, count] of ofBrands) {
        const environment = environmentOf(brandId)
        differencesIn[environment] += count
        const place = differencesOf.find((one) => one.class === classOf(check) && one.environment === environment)
        if (place !== undefined) place.differences += count
      }
    const all = [...this.#checks.values()]
    const differences: Difference[] = all
      .flatMap(({ listed }) => listed)
      .slice(0, listedMax)
      .map(({ difference }) => ({
        ...difference,
        class: classOf(difference.check),
        environment: environmentOf(difference.brandId),
      }))
    const totalOf = ({ ofBrands }: OfCheck) => [...ofBrands.values()].reduce((sum, count) => sum + count, 0)
    return {
      checks: [...this.#checks].map(([check, ofCheck]) => ({
        check,
        compared: ofCheck.compared,
        differences: totalOf(ofCheck),
      })),
      differences,
      differencesIn,
      differencesOf: differencesOf.filter(({ differences }) => differences > 0),
      differencesTotal: differencesIn.sandbox + differencesIn.production,
    }
  }

  #count(
    check: string,
    brandId: string | null,
    { count, isOpen }: { readonly count: number; readonly isOpen: boolean },
  ): void {
    const { ofBrands, openOfBrands } = this.#of(check)
    ofBrands.set(brandId, (ofBrands.get(brandId) ?? 0) + count)
    if (isOpen) openOfBrands.set(brandId, (openOfBrands.get(brandId) ?? 0) + count)
  }

  #of(check: string): OfCheck {
    const found = this.#checks.get(check)
    if (found === undefined) throw new Error(`no such check: ${check}`)
    return found
  }
}
