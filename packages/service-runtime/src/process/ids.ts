import type { IdPrefix } from '@backoffice/contracts'
import { typeidUnboxed } from 'typeid-js'

/** A new opaque id: the prefix, and time-ordered randomness (UUIDv7) behind it, so that new rows stand together in an index. */
export function newId(prefix: IdPrefix | 'req' | 'opn' | 'cmd'): string {
  return typeidUnboxed(prefix)
}
