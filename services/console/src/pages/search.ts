import type { Pages } from './route.ts'

/** Where a record is shown, by the prefix of its id. */
const places: Readonly<Record<string, string>> = { wdr: 'withdrawals', ply: 'players', op: 'operators' }

/** The page of the record with this id. */
export function placeOf(id: string): string | undefined {
  const [, prefix = ''] = /^([a-z]+)_[\w-]+$/.exec(id) ?? []
  const place = places[prefix]
  return place === undefined ? undefined : `/${place}/${id}`
}

export const searchPages: Pages = (route) => {
  route.get('/search', (visit) => {
    const text = visit.query.q?.trim() ?? ''
    const place = placeOf(text)
    if (place !== undefined) return visit.reply.redirect(visit.address(place), 303)
    return visit.reply.code(404).page('search', { environment: visit.environment, text }, { request: visit.request })
  })
}
