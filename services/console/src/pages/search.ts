import type { Pages } from './route.ts'

/** Where a record is shown, by the prefix of its id. */
const places: Readonly<Record<string, string>> = { wdr: 'withdrawals', ply: 'players', op: 'operators' }

export const searchPages: Pages = (route) => {
  route.get('/search', (visit) => {
    const text = visit.query.q?.trim() ?? ''
    const [, prefix = ''] = /^([a-z]+)_[\w-]+$/.exec(text) ?? []
    const place = places[prefix]
    if (place !== undefined) return visit.reply.redirect(visit.address(`/${place}/${text}`), 303)
    return visit.reply.code(404).page('search', { environment: visit.environment, text }, { request: visit.request })
  })
}
