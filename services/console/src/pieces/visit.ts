import {
  defined,
  type Environment,
  isReplySealed,
  type Operation,
  Rejection,
  rolesThatMay,
  type ServiceName,
} from '@backoffice/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JWK } from 'jose'
import { inputOf, type ShownCall, unreadOf } from '../../assets/signing.js'
import type { ConsoleContext } from '../context.ts'
import { leaveNotice } from '../identity/cookies.ts'
import type { Word } from '../words/index.ts'
import { displayOf, goTo } from './cells.ts'
import { type Form, fieldsOf, missingFields, newOperationId, readFieldsOf } from './forms.ts'
import { isInPlace, isUnknown, refusalOf, sayInPlace } from './refusals.ts'
import { askedBefore, restOf, silenceOf } from './rest.ts'

/** What a page works with: who asks, and for which environment. */
export function visitOf(request: FastifyRequest, reply: FastifyReply, context: ConsoleContext) {
  const { person } = request
  if (person === undefined) throw new Error('nobody is signed in')
  const params = request.params as Readonly<Record<string, string>>
  const environment: Environment = params.environment === 'sandbox' ? 'sandbox' : 'production'
  const query = request.query as Readonly<Record<string, string | undefined>>
  const asked = askedBefore(query, person, context.clock.now())
  const visit = {
    person,
    environment,
    display: displayOf(request, context),
    request,
    reply,
    params,
    now: asked.now,
    log: context.log,
    recorded: context.recorded,
    query,
    /** The services whose part of the page is not there yet. */
    late: new Set<ServiceName>(),
    asked,
    /** The address of a page in the same environment. */
    address: (path: string): string => `/${environment}${path}`,
  }
  return {
    ...visit,
    show(page: string, data: object): FastifyReply {
      const silence = (service: string) => silenceOf(visit, service)
      return reply.page(page, { environment, rest: restOf(visit), silence, ...data }, { request })
    },
  }
}
export type Visit = ReturnType<typeof visitOf>

/** A form of a page, with what is said beside its button. */
export interface Decision extends Form {
  /** The name of its operation when absent. */
  readonly label?: Word
  /** A heading above the first of its kind, where there are many. */
  readonly group?: Word
  /** What happens, with the amount and the names in it: it stands above the button. */
  readonly ask: string
  /** What is said when it is done; by the reply, where it may be done in part. The name of its operation when absent. */
  readonly done?: string | ((reply: unknown) => string)
  /** Plain when absent. */
  readonly tone?: 'good' | 'bad' | 'plain'
  /** Opens the form. */
  readonly key?: string
  /** Why this person cannot do it. */
  readonly unless?: string | undefined
  /** The proposal of somebody else that it carries out. */
  readonly approves?: string
  /** Of the call that it makes again. */
  readonly operationId?: string
  /** The page that follows, where that is another one: of what it has made, or of what is left. */
  readonly leadsTo?: (reply: unknown) => string
  /** Shows the reply, which nothing keeps: the next page is without it. */
  readonly shows?: (reply: unknown) => Promise<FastifyReply>
  /** The part of the page that the answer takes the place of, by its id. Nothing else happens, so its key sends the form. */
  readonly part?: string
  /** What is in its reply that nobody is shown a second time. */
  readonly secrets?: ((reply: unknown) => readonly Secret[]) | undefined
}

/** Something to be copied from a reply. Null: it was shown before. */
export interface Secret {
  /** Names it in the catalogue of words. */
  readonly field: string
  readonly value: string | null
}

/** What was sent and not done. */
export interface SentForm {
  readonly name: string
  readonly given: Readonly<Record<string, string>>
  readonly rejection: Rejection
}

/** The roles of which any is enough for an operation. */
export const rolesFor = (
  { display }: Pick<Visit, 'display'>,
  operation: Operation | undefined,
  input: Readonly<Record<string, unknown>> = {},
): string => display.anyOf(rolesThatMay(operation ?? {}, input).map((role) => display.word('value', role)))

/** A decision as its template needs it. */
export function shownDecision(visit: Visit, decision: Decision, path: string, sent?: SentForm) {
  const { name, operation, ask, tone = 'plain', key, unless, fixed, approves } = decision
  const { label = labelOf(operation) } = decision
  const { timeZone, language } = visit.display
  const fields = readFieldsOf(decision)
  const call = { form: name, operation: nameOf(operation), input: fixed, ...defined({ approves }) }
  const shown: ShownCall = { ...call, isSealed: isReplySealed(operation, fixed), fields, timeZone, language }
  const own = sent?.name === name ? sent : undefined
  const here = encodeURIComponent(visit.address(path))
  const roles = rolesFor(visit, operation, fixed)
  const isOthers = !visit.person.mayCall(operation, fixed)
  return {
    ...{ name, label, ask, tone, key, isOthers, roles },
    unless: isOthers ? visit.display.t('notYours', { roles }) : unless,
    fields: fieldsOf(decision, visit.display, own?.given, own?.rejection),
    currency: decision.currency,
    group: decision.group,
    part: decision.part,
    // The browser signs it, so nobody signs what a service says when the button is pressed, and the page did not show. Views
    // write characters that do not show as \u202e, which JSON reads as the same characters.
    shown: JSON.stringify(shown),
    operationId: decision.operationId ?? newOperationId(),
    /** Set when the person must log in once more before: the address of that login. */
    loginAgain: visit.person.needsFreshLogin(operation, fixed) ? `/login?again=yes&returnTo=${here}` : undefined,
    loginIsWeak: visit.person.isWeak,
    // The filter of a list stays behind it.
    action: visit.address(path.replace(/(?=\?|$)/, `/${name}`)),
    /** What went wrong when it was sent. */
    refusal: own && refusalOf(visit.display, decision, own.given, own.rejection),
  }
}
export type ShownDecision = ReturnType<typeof shownDecision>

const nameOf = ({ service, id }: Operation): string => `${service}.${id}`

/** The catalogue names every operation that has a form. */
export const labelOf = ({ id }: Operation): Word => `operation.${id}` as Word

/**
 * What a browser has signed: the call of the form as its page showed it, and the input that was made of it.
 * @throws {Rejection} when the form is another one than it is sent to, cannot be read, or is not signed
 */
function signedCall(decision: Decision, given: Readonly<Record<string, string>>) {
  const { operationId, _proof: proof } = given
  const call = parsed<ShownCall>(given.shown)
  const input = parsed<ShownCall['input']>(given._input)
  if (call?.form !== decision.name || call.operation !== nameOf(decision.operation))
    throw new Rejection('SIGNATURE_REQUIRED')
  refuseUnlessFilledIn(decision, { ...call, input: {}, fields: readFieldsOf(decision) }, given)
  if (!operationId || !proof || input === undefined) throw new Rejection('SIGNATURE_REQUIRED')
  return { operationId, input, approves: call.approves, proof, opener: parsed<JWK>(given._opener) }
}

/** By the function with which the browser reads it, which signs nothing of this either: nobody reads an amount in two ways. */
function refuseUnlessFilledIn(decision: Decision, call: ShownCall, given: Readonly<Record<string, string>>): void {
  const unread = unreadOf(call, given)
  const missing = missingFields(decision, inputOf(call, given)).filter((field) => !unread.includes(field))
  const issues = [
    ...unread.map((field) => ({ path: `/${field}`, message: 'cannot be read' })),
    ...missing.map((field) => ({ path: `/${field}`, message: 'is required' })),
  ]
  if (issues.length > 0) throw new Rejection('VALIDATION_ERROR', { in: 'body', issues })
}

function parsed<T extends object>(text = ''): T | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

/**
 * Carries a decision out as it was sent.
 * @returns its reply, or what was refused; undefined when the browser was sent on
 */
export async function perform(
  visit: Visit,
  decision: Decision,
  path: string,
): Promise<{ readonly reply: unknown } | SentForm | undefined> {
  const { person, reply, request, display } = visit
  const given = fieldsGiven(request)
  const { name, operation } = decision
  const here = encodeURIComponent(visit.address(path))
  try {
    const call = signedCall(decision, given)
    return { reply: await person.passOn(operation, call) }
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    if (error.code === 'FRESH_LOGIN_REQUIRED') {
      goTo(reply, `/login?again=yes&returnTo=${here}`)
      return undefined
    }
    if (error.code === 'LOGIN_REQUIRED') throw error
    if (error.code !== 'AWAITS_APPROVAL') return { name, given, rejection: error }
    const { expiresAt, proposalId } = error.details as { readonly expiresAt: string; readonly proposalId: string }
    const text = display.t('proposed', { time: display.time(expiresAt) })
    leaveNotice(request, { kind: 'waits', text, href: visit.address(`/proposals/${proposalId}`) })
    reply.redirect(visit.address(path), 303)
    return undefined
  }
}

/**
 * Carries a decision out as it was sent, and goes to `path` with a word about it.
 * @param showAgain shows the page with the form again, and what was refused
 */
async function decide(
  visit: Visit,
  decision: Decision,
  path: string,
  showAgain: (sent: SentForm) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const outcome = await perform(visit, decision, path)
  if (outcome === undefined) return visit.reply
  // One of several that a page sends: it wants to know what became of it, and shows the rest itself.
  if (visit.request.headers.accept === 'application/json') return visit.reply.send(toldOf(visit, outcome))
  if ('rejection' in outcome) return refuse(visit, decision, outcome, showAgain)
  if (decision.shows !== undefined) return decision.shows(outcome.reply)
  const { done = visit.display.t(labelOf(decision.operation)) } = decision
  const what = typeof done === 'string' ? done : done(outcome.reply)
  const secrets = decision.secrets?.(outcome.reply) ?? []
  const other = decision.leadsTo?.(outcome.reply)
  const next = visit.address(other ?? path)
  // No redirect: nothing keeps them, so this reply is the only place for them.
  if (secrets.length > 0) return visit.show('secrets', { what, secrets, href: next })
  leaveNotice(visit.request, { kind: 'done', text: visit.display.t('done', { what }) })
  // Another page has an address, which the browser shows and loads again: no part of this one takes its place.
  return other === undefined ? visit.reply.redirect(next, 303) : goTo(visit.reply, next)
}

function toldOf({ display }: Visit, outcome: SentForm | { readonly reply: unknown }) {
  if (!('rejection' in outcome)) return { is: 'done', text: display.word('value', 'done') }
  const { rejection } = outcome
  return { is: isUnknown(rejection) ? 'unknown' : 'refused', text: display.word('error', rejection.code) }
}

/**
 * Shows a form again that was refused. It stays as it stands where nobody knows whether it was done: sent once more under the
 * same id it acts once. So it does where its page cannot be shown. After a refusal nothing was done, and a new id is a new try.
 */
export async function refuse(
  { reply, request, display }: Visit,
  decision: Decision,
  sent: SentForm,
  showAgain: (sent: SentForm) => FastifyReply | Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { given, rejection } = sent
  const unknown = isUnknown(rejection)
  const say = () =>
    sayInPlace(
      request,
      reply.code(422),
      refusalOf(display, decision, given, rejection),
      unknown ? given.operationId : (decision.operationId ?? newOperationId()),
    )
  if (unknown && isInPlace(request)) return say()
  try {
    reply.code(422)
    return await showAgain(sent)
  } catch (error) {
    if (!(error instanceof Rejection) || !isInPlace(request)) throw error
    return say()
  }
}

/** A form's fields that are texts. */
export function fieldsGiven({ body }: FastifyRequest): Readonly<Record<string, string>> {
  const entries = Object.entries((body ?? {}) as Readonly<Record<string, unknown>>)
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

export type Handler = (visit: Visit) => FastifyReply | Promise<FastifyReply>

/** Adds pages. Forms are sent with POST, and carry the CSRF token of their session. */
export interface Route {
  get(path: string, handler: Handler): unknown
  post(path: string, handler: Handler): unknown
}

export type Pages = (route: Route, context: ConsoleContext) => void

/** A page with forms: a record, a list, or a form alone. */
interface PageWithForms<Found> {
  /** What the page is about. */
  readonly find: (visit: Visit) => Found | Promise<Found>
  /** Its address, without the environment. */
  readonly pathOf: (found: Found, visit: Visit) => string
  /** The environment that it belongs to, where it has one: in the other one, the browser is sent there. */
  readonly environmentOf?: (found: Found) => Environment
  /** @param sent the form that was refused, to be shown again */
  readonly show: (visit: Visit, found: Found, sent?: SentForm) => FastifyReply | Promise<FastifyReply>
  /**
   * The form of this name; undefined where there is none. It may be one that the page does not show any more: then the
   * service says why it cannot be done.
   */
  readonly decisionOf?: (visit: Visit, found: Found, name: string) => Decision | undefined
}

/** Adds a page, and each form of it under its name below the page's address. */
export function pageWithForms<Found>(route: Route, address: string, page: PageWithForms<Found>): void {
  const { find, pathOf, environmentOf, show, decisionOf } = page
  async function showPage(visit: Visit, sent?: SentForm) {
    const found = await find(visit)
    const environment = environmentOf?.(found) ?? visit.environment
    if (environment !== visit.environment) return visit.reply.redirect(`/${environment}${pathOf(found, visit)}`, 303)
    return show(visit, found, sent)
  }
  route.get(address, (visit) => showPage(visit))
  if (decisionOf === undefined) return
  route.post(`${address}/:form`, async (visit) => {
    const found = await find(visit)
    const decision = decisionOf(visit, found, visit.params.form ?? '')
    if (decision === undefined) throw new Rejection('NOT_FOUND')
    return decide(visit, decision, pathOf(found, visit), (sent) => showPage(visit, sent))
  })
}
