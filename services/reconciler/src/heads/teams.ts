import { type IssuerKey, inputDigest, type TeamIdentity } from '@backoffice/team-access/identity'
import { type HeadStore, parsed, stampOf, textOf } from './store.ts'

/**
 * Who belonged to the team: the settings, and the keys that the identity provider had. It stands among the exported heads,
 * where whoever can write to the database cannot change it.
 */
export interface KnownTeam {
  /** When a reconciliation first saw it so. */
  readonly since: Date
  readonly identity: TeamIdentity
  readonly keys: readonly IssuerKey[]
  /** Up to this amount one person could correct a balance in production. */
  readonly aloneUpTo: string
  /** Up to this amount one person could approve a withdrawal in production and pay it. */
  readonly payAloneUpTo: string
  /** What one win of a provider of games could be without two people, where nothing else was set. */
  readonly maxWin: string
}

const kind = 'team'

/** In the order of time. */
export async function listTeams(store: HeadStore): Promise<KnownTeam[]> {
  const names = await store.list(`${kind}/`, '')
  return Promise.all(names.map(async (name) => teamFrom(await textOf(store, name))))
}

/** When two replicas see the change at one moment, only one writes it. */
export async function writeTeam(store: HeadStore, team: KnownTeam): Promise<void> {
  await store.put(`${kind}/${stampOf(team.since)}.json`, `${JSON.stringify({ since: team.since, ...stored(team) })}\n`)
}

/** Whether the same people were known by the same keys. */
export const isSameTeam = (one: KnownTeam, other: KnownTeam): boolean =>
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
