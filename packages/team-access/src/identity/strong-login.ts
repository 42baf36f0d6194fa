import type { TeamCaller } from '@backoffice/contracts'

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
