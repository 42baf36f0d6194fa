import type { Rejection } from '@backoffice/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Display } from './cells.ts'
import { type Form, fieldIn, fieldsOf, issuesOf, namesIn } from './forms.ts'

/** What was refused, as pages say it. */
export interface Refusal {
  /** Names it in the catalogue of words. */
  readonly code: string
  /** It may have been done all the same. */
  readonly unknown: boolean
  /** What each field wants, which a form says beside the field too. */
  readonly ofFields?: readonly { readonly name: string; readonly field: string; readonly issue: string }[]
  /** What else is known of it, a sentence each. */
  readonly lines: readonly string[]
}

/** Whether it may have been done: no service said what became of it. */
export const isUnknown = ({ code }: Rejection): boolean => code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_ERROR'

/** What became of a form that was sent. */
export const refusalOf = (
  display: Display,
  form: Form,
  given: Readonly<Record<string, string>>,
  rejection: Rejection,
): Refusal => ({
  code: rejection.code,
  unknown: isUnknown(rejection),
  ...(rejection.code === 'VALIDATION_ERROR'
    ? issueLines(display, form, given, rejection)
    : { lines: detailLines(display, rejection) }),
})

/** Each field with what it wants, and what is wrong with the whole. */
function issueLines(display: Display, form: Form, given: Readonly<Record<string, string>>, rejection: Rejection) {
  const ofFields = fieldsOf(form, display, given, rejection).flatMap(({ name, issue }) =>
    issue === undefined ? [] : [{ name, field: display.word('field', name), issue }],
  )
  const others = issuesOf(rejection).filter(({ path }) => !namesIn(form).includes(fieldIn(path)))
  return { ofFields, lines: others.map(({ message }) => display.first([`issue.${message}`, 'issue.other'])) }
}

type Details = Readonly<Record<string, unknown>>

/** Those of its details that tell a person something, in words. What a page shows already, such as an id, does not. */
export function detailLines(display: Display, { details = {} }: Pick<Rejection, 'details'>): readonly string[] {
  const { roles, seen, held, missing, ...others } = details as Details
  return [
    ...(Array.isArray(roles)
      ? [display.t('notYours', { roles: display.anyOf(roles.map((role) => display.word('value', role))) })]
      : []),
    ...(Array.isArray(missing) ? missing.map((check) => display.word('check', check)) : []),
    ...changedLines(display, seen as Details | undefined, held as Details | undefined),
    ...Object.entries(others).flatMap(([name, value]) => {
      const field = display.word('field', name)
      return field === name || name.endsWith('Id') || typeof value !== 'string'
        ? []
        : [`${field}: ${valueText(display, name, value)}`]
    }),
  ]
}

/** What the page showed, and what holds now, where both are more than a digest. */
const changedLines = (display: Display, seen: Details = {}, held: Details = {}): readonly string[] =>
  Object.entries(held).flatMap(([name, now]) => {
    const field = display.word('field', name)
    const [before, after] = [seen[name], now].map((value) => valueText(display, name, value))
    return field === name || before === after ? [] : [`${field}: ${before} → ${after}`]
  })

function valueText(display: Display, name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return display.none(name)
  if (Array.isArray(value))
    return value.length === 0 ? display.none(name) : value.map((one) => valueText(display, name, one)).join(', ')
  const text = String(value)
  return /^\d{4}-\d\d-\d\dT/.test(text) ? display.time(text) : display.sentence(display.word('value', text, name))
}

/** A form of a page that is there still, and takes a part of it as the reply. */
export const isInPlace = ({ method, headers }: FastifyRequest): boolean =>
  method === 'POST' && headers['hx-request'] === 'true'

/**
 * Says it in the form that was sent, which stays as it stands: nothing that was typed is lost, and whatever is away, no page
 * need be made.
 * @param operationId of the next try: the same one where this may have been done
 */
export function sayInPlace(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
  operationId?: string,
): FastifyReply {
  reply.headers({ 'HX-Retarget': 'find .said', 'HX-Reswap': 'outerHTML', 'HX-Reselect': '.said' })
  return reply.page('said', { said: { refusal, operationId } }, { request })
}
