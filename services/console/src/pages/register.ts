import { Rejection } from '@backoffice/contracts'
import type { FastifyInstance } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { signedIn } from '../identity/cookies.ts'
import { type Person, personOf } from '../identity/person.ts'
import { goTo, pageAddress } from '../pieces/cells.ts'
import { filterPages } from '../pieces/filters.ts'
import { type Handler, type Route, visitOf } from '../pieces/visit.ts'
import { auditPages } from './audit.ts'
import { deliveryPages } from './deliveries.ts'
import { depositPages } from './deposits.ts'
import { endpointPages } from './endpoints.ts'
import { entryPages } from './entries.ts'
import { gamePages } from './games.ts'
import { heldWinPages } from './held-wins.ts'
import { homePages } from './home.ts'
import { kycPages } from './kyc.ts'
import { operatorPages } from './operators.ts'
import { paymentRunPages } from './payment-run.ts'
import { peoplePages } from './people.ts'
import { playDayPages } from './play-days.ts'
import { playerPages } from './players.ts'
import { proposalPages } from './proposals.ts'
import { providerPages } from './providers.ts'
import { reconcilePages } from './reconcile.ts'
import { requestPages } from './requests.ts'
import { roundPages } from './rounds.ts'
import { searchPages } from './search.ts'
import { sessionPages } from './sessions.ts'
import { statementPages } from './statement.ts'
import { withdrawalPages } from './withdrawals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in. Undefined on the pages that need nobody. */
    person: Person | undefined
  }
}

const groups = [
  homePages,
  withdrawalPages,
  kycPages,
  playerPages,
  entryPages,
  depositPages,
  roundPages,
  heldWinPages,
  playDayPages,
  statementPages,
  reconcilePages,
  proposalPages,
  operatorPages,
  providerPages,
  gamePages,
  deliveryPages,
  endpointPages,
  auditPages,
  paymentRunPages,
  peoplePages,
  sessionPages,
  filterPages,
  requestPages,
  searchPages,
]

/** The pages of whoever is signed in. Their addresses begin with the environment, so that nothing is mixed. */
export function registerPages(app: FastifyInstance, context: ConsoleContext): void {
  app.decorateRequest('person', undefined)
  app.register(async (pages) => {
    pages.addHook('preHandler', async (request, reply) => {
      const session = await signedIn(request)
      if (session === undefined) {
        const returnTo = pageAddress(request)
        return goTo(reply, returnTo === '/' ? '/sign-in' : `/sign-in?returnTo=${encodeURIComponent(returnTo)}`)
      }
      request.person = await personOf(session, context)
    })
    pages.get('/', (_request, reply) => reply.redirect('/production', 303))
    const add = (method: 'GET' | 'POST') => (path: string, handler: Handler) =>
      pages.route({
        method,
        url: `/:environment(^(?:production|sandbox)$)${path}`,
        ...(method === 'POST' ? { preHandler: pages.csrfProtection } : {}),
        handler: (request, reply) => handler(visitOf(request, reply, context)),
      })
    const route: Route = { get: add('GET'), post: add('POST') }
    for (const register of groups) register(route, context)
    // Whoever is signed in keeps the menu.
    route.get('/*', () => {
      throw new Rejection('NOT_FOUND')
    })
  })
}
