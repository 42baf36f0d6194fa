import { type OwnSession, operations, Rejection, type ServiceName } from '@backoffice/contracts'
import { lists, ownSessionsIn } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { askEach } from '../identity/person.ts'
import { factsOf, lines, status, text } from '../pieces/cells.ts'
import { listRows } from '../pieces/list-page.ts'
import { showCase, showLists } from '../pieces/queue.ts'
import { inParts } from '../pieces/rest.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

const { endSession, listOwnSessions } = operations.gateway

const path = '/sessions'
const pathOf = ({ session }: OwnSession): string => `${path}/${session}`

/** One's own sessions, here and on the command line: one may have been left open, or be a thief's. */
export const sessionPages: Pages = (route) => {
  pageWithForms(route, path, {
    find: (visit) => ownSessions(inParts(visit)),
    pathOf: () => path,
    show: showSessions,
    decisionOf: (visit, _found, name) => (name === 'endAll' ? endAllDecision(visit) : undefined),
  })
  pageWithForms(route, `${path}/:session`, {
    find: findSession,
    pathOf,
    show: showSession,
    decisionOf: (visit, session, name) => (name === 'end' ? endDecision(visit, session) : undefined),
  })
}

interface Found {
  readonly sessions: readonly OwnSession[]
  readonly missing: readonly ServiceName[]
}

/** Each service knows those that have called it. */
async function ownSessions({ person }: Visit): Promise<Found> {
  const { replies, missing } = await askEach(person.resident, (service) =>
    person.call(operations[service].listOwnSessions, {}),
  )
  return { sessions: ownSessionsIn(replies), missing }
}

async function findSession(visit: Visit): Promise<OwnSession> {
  const { sessions } = await ownSessions(visit)
  const found = sessions.find(({ session }) => session === visit.params.session)
  if (found === undefined) throw new Rejection('NOT_FOUND')
  return found
}

const clientCell = ({ person }: Visit, { client, session }: OwnSession) =>
  session === person.session ? lines(text(client), status('this')) : text(client)

function showSessions(visit: Visit, { sessions, missing }: Found, sent?: SentForm): FastifyReply {
  const { display } = visit
  const rows = listRows(visit, lists.ownSessions, sessions, { client: (one) => clientCell(visit, one) })
  return showLists(visit, {
    title: 'sessions',
    path,
    remark: display.t('sessionsWhat'),
    decisions: [endAllDecision(visit)],
    sent,
    missing,
    sections: [{ rows }],
  })
}

function showSession(visit: Visit, session: OwnSession, sent?: SentForm): FastifyReply {
  const { address, display } = visit
  return showCase(visit, {
    path: pathOf(session),
    title: display.time(session.begunAt),
    about: display.t('sessions'),
    list: address(path),
    facts: factsOf(listOwnSessions.reply.properties.data.items, session, [
      ['client', (one) => clientCell(visit, one)],
      'begunAt',
      'firstUsedAt',
      'endsAt',
    ]),
    decisions: [endDecision(visit, session)],
    decisionsTitle: 'actions',
    sent,
  })
}

const endDecision = ({ display }: Visit, { session, client, begunAt }: OwnSession): Decision => ({
  name: 'end',
  label: 'endSession',
  operation: endSession,
  fixed: { session },
  only: [],
  ask: display.t('endSessionAsk', { client, time: display.time(begunAt) }),
  done: display.t('endSession'),
  tone: 'bad',
  leadsTo: () => path,
})

const endAllDecision = ({ display }: Visit): Decision => ({
  name: 'endAll',
  label: 'endAllSessions',
  operation: endSession,
  fixed: {},
  only: [],
  ask: display.t('endAllSessionsAsk'),
  done: display.t('endAllSessions'),
  tone: 'bad',
})
