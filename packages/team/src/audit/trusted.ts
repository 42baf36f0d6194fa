import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { fixedKeys, identityFrom, issuerKeys, type TrustedTeam } from '@backoffice/team-identity'
import type { JSONWebKeySet } from 'jose'
import { runningStack } from '../login/connection.ts'

export interface TrustOptions {
  /** Files with the settings of the services: those in force, and those that were before. */
  readonly settings?: readonly string[]
  /** Files of the provider's keys (JWKS). Without them the provider is asked. */
  readonly keys?: readonly string[]
  /** Files of machines, as TEAM_MACHINES_FILE names them: those in force, and those that were before. */
  readonly machines?: readonly string[]
}

/** Who belonged to the team: by files that the verifying person has, and not by what a service says. */
export async function trustedBy({ settings = [], keys, machines = [] }: TrustOptions): Promise<TrustedTeam[]> {
  const given = settings.length === 0 ? [await settingsOfStack()] : settings.map((file) => parseEnv(textOf(file)))
  const known = keys && fixedKeys(keys.flatMap((file) => (JSON.parse(textOf(file)) as JSONWebKeySet).keys))
  const machineFiles = machines.length === 0 ? [''] : machines
  return given.flatMap((texts) =>
    machineFiles.map((machinesFile) => {
      // The settings name files by their paths in a container, which are not on this machine.
      const identity = identityFrom({ ...texts, TEAM_KEYS_FILE: '', TEAM_MACHINES_FILE: machinesFile })
      if (identity.issuer === undefined) throw new Error('TEAM_ISSUER: is not among the settings')
      return { identity, keys: known ?? issuerKeys(identity) }
    }),
  )
}

/** The settings of the services that npm start runs on this machine. */
async function settingsOfStack(): Promise<Readonly<Record<string, string>>> {
  const stack = await runningStack()
  if (stack === undefined) throw new Error('--settings is required: the file with the TEAM_… settings of the services')
  return stack.identity
}

const textOf = (file: string): string => readFileSync(file, 'utf8')
