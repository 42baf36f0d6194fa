import { toMinorUnits } from '@backoffice/contracts'
import {
  fixedKeys,
  type IssuerKey,
  inputDigest,
  KeysUnavailable,
  RecordedCalls,
  type TeamIdentity,
  type TrustedTeam,
} from '@backoffice/team-access/identity'
import { EvidenceMissing, type HeadStore, parsed, stampOf, textOf } from '../heads/store.ts'
import type { PayAlone } from './payments-checks.ts'

/**
 * Who belonged to the team: the settings, and the keys that the identity provider had. It stands among the exported heads,
 * where whoever can write to the database cannot change it.
 */
interface KnownTeam extends Pick<TeamRules, 'aloneUpTo' | 'payAloneUpTo' | 'maxWin'> {
  /** When a reconciliation first saw it so. */
  readonly since: Date
  readonly identity: TeamIdentity
  readonly keys: readonly IssuerKey[]
}

const kind = 'team'

/** In the order of time. */
async function listTeams(store: HeadStore): Promise<KnownTeam[]> {
  const names = await store.list(`${kind}/`, '')
  return Promise.all(names.map(async (name) => teamFrom(await textOf(store, name))))
}

/** When two replicas see the change at one moment, only one writes it. */
async function writeTeam(store: HeadStore, team: KnownTeam): Promise<void> {
  await store.put(`${kind}/${stampOf(team.since)}.json`, `${JSON.stringify({ since: team.since, ...stored(team) })}\n`)
}

/** Whether the same people were known by the same keys. */
const isSameTeam = (one: KnownTeam, other: KnownTeam): boolean =>
  inputDigest(stored(one)) === inputDigest(stored(other))

function stored({ identity, keys, aloneUpTo, payAloneUpTo, maxWin }: KnownTeam) {
  const { keysFile: _file, rolesOfGroup, machines, ...settings } = identity
  // A provider may list its keys in any order.
  const sorted = [...keys].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
  return {
    ...{ ...settings, issuer: settings.issuer ?? null },
    rolesOfGroup: [...rolesOfGroup],
    machines: [...machines.values()],
    keys: sorted,
    aloneUpTo,
    payAloneUpTo,
    maxWin,
  }
}

/** The first records do not say what one person could pay alone, nor those after them what a win could be. */
type RecordedTeam = Omit<ReturnType<typeof stored>, 'payAloneUpTo' | 'maxWin'> & {
  readonly since: string
  readonly payAloneUpTo?: string
  readonly maxWin?: string
}

function teamFrom(text: string): KnownTeam {
  const {
    since,
    keys,
    aloneUpTo,
    payAloneUpTo = '0.00',
    maxWin = '0.00',
    rolesOfGroup,
    machines,
    issuer,
    ...settings
  } = parsed<RecordedTeam>(text)
  const identity = {
    ...settings,
    issuer: issuer ?? undefined,
    keysFile: undefined,
    rolesOfGroup: new Map(rolesOfGroup),
    machines: new Map(machines.map((machine) => [machine.name, machine])),
  }
  return { since: new Date(since), identity, keys, aloneUpTo, payAloneUpTo, maxWin }
}

/** Who may do what, as the settings say it. */
export interface TeamRules extends TrustedTeam {
  /** Up to this amount one person may correct a balance in production. */
  readonly aloneUpTo: string
  /** Up to this amount one person may approve a withdrawal in production and pay it. */
  readonly payAloneUpTo: string
  /** What one win of a provider of games may be without two people, where nothing else was set. */
  readonly maxWin: string
  /** Whether operators get a pair for production as they are created. */
  readonly isDevelopment?: boolean
  /** How long a setting may take until it is rolled out everywhere and recorded; a day when absent. */
  readonly rollOutMs?: number
}

const rollOutMsDefault = 24 * 3_600_000

/** Rules and the time in which something may have been done by them. */
interface Period extends Pick<TeamRules, 'identity' | 'keys' | 'aloneUpTo' | 'payAloneUpTo' | 'maxWin'> {
  /** In milliseconds since 1970. */
  readonly from: number
  readonly until: number
}

/** Who belonged to the team at a moment. */
interface Held {
  readonly calls: RecordedCalls
  /** Up to this amount, in minor units, one person could correct a balance in production. */
  readonly aloneUpTo: bigint
  /** What one win could be, in minor units, where nothing else was set. */
  readonly maxWin: bigint
}

/** Who belonged to the team and what one person could do alone, at each time, as far as it is recorded. */
export class TeamHistory {
  /** Whether former keys and settings are recorded. If not, only those of today are known. */
  readonly isRecorded: boolean
  /** In the order of time. */
  readonly #periods: readonly Period[]
  readonly #calls = new Map<string, RecordedCalls>()

  private constructor(
    { rollOutMs = rollOutMsDefault, ...today }: TeamRules,
    { teams, isRecorded }: { readonly teams: readonly KnownTeam[]; readonly isRecorded: boolean },
  ) {
    this.isRecorded = isRecorded
    const always = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }
    // While a change is rolled out, what was before and what comes both hold. Nothing says what was before the first record.
    const periods = teams.map((team, index) => ({
      ...{ ...team, keys: fixedKeys(team.keys) },
      from: index === 0 ? always.from : team.since.getTime() - rollOutMs,
      until: (teams[index + 1]?.since.getTime() ?? always.until) + rollOutMs,
    }))
    this.#periods = periods.length === 0 ? [{ ...today, ...always }] : periods
  }

  /** Reads what was recorded, and adds what holds today if it has changed. */
  static async read(rules: TeamRules, at: Date, store: HeadStore | undefined): Promise<TeamHistory> {
    const teams = store === undefined ? [] : await listTeams(store)
    const keys = await rules.keys?.read().catch((error) => {
      // The provider is away. Most calls can be verified with the keys that were recorded before.
      if (error instanceof KeysUnavailable) return undefined
      throw error
    })
    if (keys !== undefined) {
      const { identity, aloneUpTo, payAloneUpTo, maxWin } = rules
      const today = { since: at, identity, keys, aloneUpTo, payAloneUpTo, maxWin }
      const latest = teams.at(-1)
      if (latest === undefined || !isSameTeam(latest, today)) {
        // The next run writes what this one could not. That nothing can be written shows in the age of exports.
        if (store !== undefined)
          await writeTeam(store, today).catch((error) => {
            if (!(error instanceof EvidenceMissing)) throw error
          })
        teams.push(today)
      }
    }
    return new TeamHistory(rules, { teams, isRecorded: store !== undefined })
  }

  /**
   * All settings and keys that held at a moment; during a roll-out there are two. A call is proven if one of them accepts it,
   * and the largest amount counts.
   */
  heldAt(at: Date): Held {
    const held = this.#periods.filter(({ from, until }) => from <= at.getTime() && at.getTime() < until)
    const most = (name: 'aloneUpTo' | 'maxWin') =>
      held.map((period) => toMinorUnits(period[name])).reduce((most, one) => (one > most ? one : most), 0n)
    return { calls: this.#callsOf(held), aloneUpTo: most('aloneUpTo'), maxWin: most('maxWin') }
  }

  /** The least that `maxWin` ever was, in minor units. */
  get leastMaxWin(): bigint {
    return this.#periods.map(({ maxWin }) => toMinorUnits(maxWin)).reduce((least, one) => (one < least ? one : least))
  }

  get payAlone(): PayAlone[] {
    return this.#periods.map(({ from, until, payAloneUpTo }) => ({
      begins: timeOf(from),
      ends: timeOf(until),
      upTo: toMinorUnits(payAloneUpTo),
    }))
  }

  #callsOf(held: readonly Period[]): RecordedCalls {
    const places = held.map((period) => this.#periods.indexOf(period)).join()
    let calls = this.#calls.get(places)
    if (calls === undefined) {
      calls = new RecordedCalls(held)
      this.#calls.set(places, calls)
    }
    return calls
  }
}

/** A time in milliseconds as PostgreSQL reads it. */
const timeOf = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString() : ms < 0 ? '-infinity' : 'infinity'
