import type { IdPrefix } from '@backoffice/contracts'
import { typeidUnboxed } from 'typeid-js'

/**
 * A new opaque id: the prefix and a UUIDv7, which begins with the time, so that new rows are neighbours in an index.
 */
export function newId(prefix: IdPrefix | 'req' | 'opn' | 'cmd'): string {
  return typeidUnboxed(prefix)
}
