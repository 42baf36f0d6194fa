import { isDeepStrictEqual } from 'node:util'
import { Rejection } from './errors.ts'

/**
 * People decide about what they have read, and their signature says what that was: a service that told them something else
 * is found out here.
 * @param subject the id of what it is about
 * @param held the same fields, of the locked record
 * @throws {Rejection} NOT_AS_SEEN, with both
 */
export function refuseUnlessSeen<Seen extends object>(subject: object, seen: Seen | undefined, held: Seen): void {
  if (seen !== undefined && !isDeepStrictEqual({ ...seen }, { ...held }))
    throw new Rejection('NOT_AS_SEEN', { ...subject, seen, held })
}
