import { createHash } from 'node:crypto'
import type { Withdrawal } from './resources.ts'

/** As `showWithdrawal` replies. */
type Shown = Pick<Withdrawal, 'playerId' | 'amount' | 'currency' | 'method' | 'destination'> & {
  readonly destinationSalt: string
}

/**
 * What somebody who decides about a withdrawal has seen of it: it is a part of their call, and so of what they sign. The
 * destination, with its method, is there as a digest, SHA-256 in base64url: the audit trail is kept for good and destinations
 * are not. Its salt is kept and forgotten with the destination. Without it, a PIX key that is a CPF could be guessed.
 */
export const seenOfWithdrawal = ({ playerId, amount, currency, method, destination, destinationSalt }: Shown) => ({
  ...{ playerId, amount, currency },
  destinationDigest: createHash('sha256')
    .update(JSON.stringify([destinationSalt, method, destination]))
    .digest('base64url'),
})
