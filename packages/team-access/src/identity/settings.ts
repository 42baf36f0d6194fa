import { readFileSync } from 'node:fs'
import type { TeamCaller } from '@backoffice/contracts'
import { type TeamRole, teamRoles } from '@backoffice/contracts/team'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Ed25519Key, type SessionJwk } from './session-key.ts'

/** How people must have logged in for what wants a fresh login. An empty list asks for nothing. */
export interface StrongLogin {
  /** The claim that says how well somebody has proven who they are, and what it may say. */
  readonly acrClaim: string
  readonly acr: readonly string[]
  /** One of these methods must have been used. */
  readonly amr: readonly string[]
}

const wanted = ({ acrClaim, acr, amr }: StrongLogin): [string, readonly string[]][] =>
  [[acrClaim, acr] as [string, readonly string[]], ['amr', amr] as [string, readonly string[]]].filter(
    ([, accepted]) => accepted.length > 0,
  )

/** @returns undefined where nothing is lacking. Each claim that is asked for must have one of its values */
export function lackingIn(claims: Readonly<Record<string, unknown>>, strong: StrongLogin): TeamCaller['lacking'] {
  const lacking = wanted(strong).filter(
    ([claim, accepted]) => ![claims[claim]].flat().some((said) => accepted.includes(said as string)),
  )
  return lacking.length === 0 ? undefined : Object.fromEntries(lacking)
}

/** The parameters with which a login asks the provider for it. Providers heed the one or the other. */
export function strongLoginParameters(strong: StrongLogin): Readonly<Record<string, string>> {
  const claims = wanted(strong).map(([claim, values]) => [claim, { essential: true, values }])
  if (claims.length === 0) return {}
  return {
    claims: JSON.stringify({ id_token: Object.fromEntries(claims) }),
    ...(strong.acr.length === 0 ? {} : { acr_values: strong.acr.join(' ') }),
  }
}

/** The settings that say who belongs to the team. All services have the same ones. */
export const identitySettings = {
  /** The identity provider, exactly as the `iss` of its tokens. Nobody of the team can call without it. */
  TEAM_ISSUER: Type.Optional(Type.String({ pattern: '^https?://' })),
  /**
   * The origin of the console, which is the name of this deployment: every call of the team is signed for it. Needed by
   * whoever has an issuer or machines.
   */
  TEAM_DEPLOYMENT: Type.Optional(Type.String({ minLength: 1 })),
  /** The client ids that the team logs in with, separated by commas: those of the console and of the command line. */
  TEAM_AUDIENCES: Type.String({ pattern: '^[^\\s,]+(,[^\\s,]+)*$', default: 'backoffice-console,backoffice-cli' }),
  /** The provider's keys (JWKS) in a file. Without it they are read from the issuer's address, and kept. */
  TEAM_KEYS_FILE: Type.Optional(Type.String({ minLength: 1 })),
  /** The claim that lists a person's groups. */
  TEAM_GROUPS_CLAIM: Type.String({ minLength: 1, default: 'groups' }),
  /** Which roles a group has, as JSON: `{"back-office-finance": ["finance"]}`. */
  TEAM_GROUP_ROLES: Type.String({ default: '{}' }),
  /** The claim that names a person in the audit trail. Nobody may change their own. */
  TEAM_NAME_CLAIM: Type.String({ minLength: 1, default: 'email' }),
  /** How long after a login its session may act: a working day. */
  TEAM_SESSION_HOURS: Type.Integer({ minimum: 1, maximum: 24, default: 10 }),
  /**
   * What an ID token's `acr` may say where a fresh login is wanted, separated by commas: a second factor, as the provider
   * calls it. Without it, any login does.
   */
  TEAM_STRONG_ACR: Type.Optional(Type.String({ pattern: '^[^\\s,]+(,[^\\s,]+)*$' })),
  /** The claim for it, where the provider has another one: `acrs` of Entra ID. */
  TEAM_ACR_CLAIM: Type.String({ minLength: 1, default: 'acr' }),
  /** The same of `amr`, the methods that were used: one of these must be among them. */
  TEAM_STRONG_AMR: Type.Optional(Type.String({ pattern: '^[^\\s,]+(,[^\\s,]+)*$' })),
  /** A file of machines that act for the team, as JSON: `[{"name", "publicKey", "roles"}]`, the key as a JWK (Ed25519). */
  TEAM_MACHINES_FILE: Type.Optional(Type.String({ minLength: 1 })),
}
const Settings = Type.Object(identitySettings)
export type IdentitySettings = Static<typeof Settings>

const Roles = Type.Array(Type.Union(teamRoles.map((role) => Type.Literal<TeamRole>(role))))
const GroupRoles = Type.Record(Type.String(), Roles)
const Machines = Type.Array(
  Type.Object({
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
    publicKey: Ed25519Key,
    roles: Roles,
  }),
)

export interface MachineIdentity {
  readonly name: string
  readonly publicKey: SessionJwk
  readonly roles: readonly TeamRole[]
}

/** The settings, read and checked. */
export interface TeamIdentity {
  readonly issuer: string | undefined
  /** An origin. Undefined where nobody can call. */
  readonly deployment: string | undefined
  readonly audiences: readonly string[]
  readonly keysFile: string | undefined
  readonly groupsClaim: string
  readonly nameClaim: string
  readonly rolesOfGroup: ReadonlyMap<string, readonly TeamRole[]>
  readonly sessionHours: number
  readonly strongLogin: StrongLogin
  readonly machines: ReadonlyMap<string, MachineIdentity>
}

/**
 * The same from texts, as an environment or a file has them; what is empty is not set.
 * @throws Error that names the setting which is wrong
 */
export function identityFrom(texts: Readonly<Record<string, string | undefined>>): TeamIdentity {
  const given = Object.keys(identitySettings).flatMap((name) => (texts[name] ? [[name, texts[name]]] : []))
  const values = Value.Convert(Settings, Value.Default(Settings, Object.fromEntries(given)))
  const fault = Value.Errors(Settings, values).First()
  if (fault !== undefined) throw new Error(`${fault.path.slice(1)}: ${fault.message}`)
  return identityOf(values as IdentitySettings)
}

/** @throws Error that names the setting which is wrong */
export function identityOf(settings: IdentitySettings): TeamIdentity {
  const { TEAM_DEPLOYMENT, TEAM_GROUP_ROLES, TEAM_ISSUER, TEAM_MACHINES_FILE } = settings
  if (TEAM_DEPLOYMENT === undefined && (TEAM_ISSUER ?? TEAM_MACHINES_FILE) !== undefined)
    throw new Error('TEAM_DEPLOYMENT: is required, the origin of the console')
  if (TEAM_DEPLOYMENT !== undefined && URL.parse(TEAM_DEPLOYMENT)?.origin !== TEAM_DEPLOYMENT)
    throw new Error('TEAM_DEPLOYMENT: is no origin, such as https://console.example.com')
  const roles = parsed('TEAM_GROUP_ROLES', GroupRoles, TEAM_GROUP_ROLES)
  const machines =
    TEAM_MACHINES_FILE === undefined
      ? []
      : parsed('TEAM_MACHINES_FILE', Machines, readFileSync(TEAM_MACHINES_FILE, 'utf8'))
  return {
    issuer: TEAM_ISSUER,
    deployment: TEAM_DEPLOYMENT,
    audiences: settings.TEAM_AUDIENCES.split(','),
    keysFile: settings.TEAM_KEYS_FILE,
    groupsClaim: settings.TEAM_GROUPS_CLAIM,
    nameClaim: settings.TEAM_NAME_CLAIM,
    rolesOfGroup: new Map(Object.entries(roles)),
    sessionHours: settings.TEAM_SESSION_HOURS,
    strongLogin: strongLoginOf(settings),
    machines: new Map(machines.map((machine) => [machine.name, machine])),
  }
}

export const strongLoginOf = (settings: IdentitySettings): StrongLogin => ({
  acrClaim: settings.TEAM_ACR_CLAIM,
  acr: settings.TEAM_STRONG_ACR?.split(',') ?? [],
  amr: settings.TEAM_STRONG_AMR?.split(',') ?? [],
})

function parsed<T extends typeof GroupRoles | typeof Machines>(name: string, schema: T, text: string): Static<T> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${name}: is not JSON`)
  }
  const fault = Value.Errors(schema, value).First()
  if (fault !== undefined) throw new Error(`${name}: ${fault.path || 'it'}: ${fault.message}`)
  return value as Static<T>
}
