import { type Case, cases } from './cases.ts'
import type { ProviderClient } from './client.ts'
import type { Seat } from './simulator.ts'
import { type TeamSide, Trial } from './trial.ts'

export interface Finding {
  readonly number: number
  readonly name: string
  readonly result: 'proved' | 'failed' | 'needs the team' | 'not seen'
  /** What was seen, what was not as it must be, or what to ask the operator's team for. */
  readonly why: string
}

interface RunOptions {
  readonly client: ProviderClient
  /** Whose money is staked in the cases that leave the player as it was. */
  readonly seat: Seat
  readonly team?: TeamSide
  /** In the ids of this run. */
  readonly name: string
  readonly only?: readonly number[]
  readonly say?: (finding: Finding) => unknown
}

/** Takes one case after the other, since they look at one balance. */
export async function runCases({ client, seat, team, name, only, say }: RunOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const one of cases) {
    if (only !== undefined && !only.includes(one.number)) continue
    const finding = { number: one.number, name: one.name, ...(await judge(one, { client, seat, team, name })) }
    findings.push(finding)
    say?.(finding)
  }
  return findings
}

async function judge(
  { number, prove, withTeam }: Case,
  { client, seat, team, name }: Pick<RunOptions, 'client' | 'seat' | 'name'> & { readonly team: TeamSide | undefined },
): Promise<Pick<Finding, 'result' | 'why'>> {
  if (prove === undefined && team === undefined) return { result: 'needs the team', why: `ask for ${withTeam?.ask}` }
  let trial: Trial | undefined
  try {
    trial = new Trial(client, prove === undefined && team !== undefined ? await team.seat() : seat, `${name}-${number}`)
    const why = await (prove?.(trial) ?? withTeam?.prove(trial, team as TeamSide))
    return { result: 'proved', why: why ?? '' }
  } catch (error) {
    return { result: 'failed', why: (error as Error).message }
  } finally {
    trial?.end()
  }
}

export interface Report {
  readonly ranAt: string
  readonly url: string
  readonly brandId: string
  readonly key: string
  readonly findings: readonly Finding[]
}

/** As a page that one hands on. */
export function inMarkdown({ ranAt, url, brandId, key, findings }: Report): string {
  const count = (result: Finding['result']) => findings.filter((one) => one.result === result).length
  const rows = findings.map(
    ({ number, name, result, why }) => `| ${number} | ${name} | ${result} | ${why.replaceAll('|', '\\|')} |`,
  )
  return [
    "# A provider's client against the sandbox",
    '',
    `${ranAt}, ${url}, brand ${brandId}, key ${key}.`,
    '',
    `${count('proved')} of ${findings.length} cases proved, ${count('failed')} failed, ${count('needs the team')} need the operator's team.`,
    '',
    '| Case | | Result | Seen |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
