import { documentLink } from '../domain/document-link.ts'
import { type SourceKey, sourceOf } from '../storage/document-sources.ts'
import { forgottenReference } from '../storage/kyc-submissions.ts'

type Sources = Parameters<typeof sourceOf>[0]

/** Where a document opens for a reviewer; null where there is no link. */
export function documentUrl(sources: Sources, owner: SourceKey, reference: string, now: Date): string | null {
  const source = sourceOf(sources, owner)
  return source === undefined || reference === forgottenReference ? null : documentLink(source, reference, now)
}
