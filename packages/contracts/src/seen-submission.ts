import { createHash } from 'node:crypto'
import { masked } from './personal.ts'
import { Player } from './resources.ts'

/** As `showPlayer` replies, masked or not. */
interface Shown {
  readonly player: Pick<Player, 'name' | 'cpf' | 'birthDate'>
  readonly submission: {
    readonly documentType: string
    readonly reference: string
    readonly documentUrl?: string | null
    readonly salt: string
  }
}

/**
 * What somebody who decides an identity check has seen: who it is, masked, and the document and where it opens, as a digest,
 * like that of a destination. Its salt is forgotten with the reference.
 */
export function seenOfSubmission({ player, submission }: Shown) {
  const { name, cpf, birthDate } = masked(Player, player) as Shown['player']
  const { documentType, reference, documentUrl, salt } = submission
  // Each look at it has a link of its own.
  const opensAt = documentUrl?.replace(/[?&]expires=\d+&signature=\w+$/, '') ?? null
  const shown = JSON.stringify([salt, name, cpf, birthDate, documentType, reference, opensAt])
  return { digest: createHash('sha256').update(shown).digest('base64url') }
}
