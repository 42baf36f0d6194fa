// Records.

import { randomBytes } from 'node:crypto'
import type { Environment } from '@backoffice/contracts'
import type { AddressRanges } from '@backoffice/process/addresses'

/** How the keys of one kind of caller look, and in which header they are sent. */
export interface KeyKind {
  /** As the documents spell it. Node's names of headers are in lower case. */
  readonly header: string
  readonly prefixes: Readonly<Record<Environment, string>>
  /** A text that can be a key. Anything else may be a secret that somebody put into the wrong place. */
  readonly shape: RegExp
}

export const operatorKeys: KeyKind = {
  header: 'X-Operator-Key',
  prefixes: { sandbox: 'bk_test_', production: 'bk_live_' },
  shape: /^bk_(live|test)_[A-Za-z0-9]{1,120}$/,
}
export const providerKeys: KeyKind = {
  header: 'X-Provider-Key',
  prefixes: { sandbox: 'gp_test_', production: 'gp_live_' },
  shape: /^gp_(live|test)_[A-Za-z0-9]{1,120}$/,
}

/** Who holds a key, as log lines say it. */
export interface KeyHolder {
  readonly operatorId?: string
  readonly providerId?: string
  readonly environment: Environment
}

/** A key that exists, and what it takes to judge who sends it. */
export interface KnownKey {
  readonly credentialId: string
  readonly key: string
  readonly secret: string
  readonly revoked: boolean
  readonly holder: KeyHolder
  readonly permittedAddresses: AddressRanges
}

/** A pair as it is shown once. */
export interface IssuedPair {
  readonly key: string
  readonly secret: string
}

/** A new key (128 random bits) and its secret (256 random bits). */
export const newPair = ({ prefixes }: KeyKind, environment: Environment): IssuedPair => ({
  key: prefixes[environment] + randomBytes(16).toString('hex'),
  secret: `sk_${randomBytes(32).toString('hex')}`,
})
