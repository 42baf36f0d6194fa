import type { IdPrefix } from '@backoffice/contracts'
import { fromUUID, typeidUnboxed } from 'typeid-js'

/**
 * A new opaque id: the prefix and a UUIDv7, which begins with the time, so that new rows are neighbours in an index.
 */
export function newId(prefix: IdPrefix | 'req' | 'opn' | 'cmd'): string {
  return typeidUnboxed(prefix)
}

/** The lowest id that can have been made at a moment: rows that are newer are found by their primary key. */
export function firstId(prefix: IdPrefix, at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return fromUUID(`${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`, prefix)
}
