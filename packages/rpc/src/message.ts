import {
  type ErrorCode,
  formats,
  type Operation,
  patternMessages,
  Rejection,
  type Scope,
  shownPath,
  type ValidationDetails,
} from '@backoffice/contracts'
import { limitsMs, patiently } from '@backoffice/process'
import type { MsgHdrs } from '@nats-io/transport-node'
import { type Context, context, propagation } from '@opentelemetry/api'
import { FormatRegistry, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { Clean } from '@sinclair/typebox/value'

export interface RequestMessage {
  readonly scope?: Scope
  readonly input: unknown
}

export interface ErrorReply {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: Record<string, unknown> }
}

/** How long a caller waits for an operation. */
export const callTimeoutMs = ({ timeoutMs }: Pick<Operation, 'timeoutMs'>): number =>
  timeoutMs === undefined ? limitsMs.call : patiently(timeoutMs)

const prefix = '{"body":'
const suffix = '}'

/** A reply's message around the bytes of its body. The operator gets these bytes as the service wrote them. */
export const replyMessage = (body: string): string => `${prefix}${body}${suffix}`

/** The bytes of a reply's body, as the service wrote them, or what it refuses with. The first bytes tell which it is. */
export function bodyOrRejection(message: Uint8Array): Buffer | Rejection {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  if (bytes.toString('latin1', 0, prefix.length) === prefix) return bytes.subarray(prefix.length, -suffix.length)
  return Rejection.from((JSON.parse(bytes.toString()) as ErrorReply).error)
}

/** Carries the active trace in the headers of a message. */
export function injectTrace(headers: MsgHdrs, active: Context = context.active()): void {
  propagation.inject(active, headers, { set: (carrier, name, value) => carrier.set(name, value) })
}

/** The trace that a message belongs to. */
export function extractTrace(headers: MsgHdrs | undefined): Context {
  return propagation.extract(context.active(), headers, {
    get: (carrier, name) => carrier?.get(name) || undefined,
    keys: (carrier) => carrier?.keys() ?? [],
  })
}

/** What travels with an outbox row: the request it comes from, and its trace. */
export function contextOf(requestId: string, active: Context = context.active()): Readonly<Record<string, string>> {
  const carrier: Record<string, string> = { requestId }
  propagation.inject(active, carrier)
  return carrier
}

/** A trace as one line of text, to be kept with a record; null when nothing is traced. */
export function traceparentOf(active: Context): string | null {
  const carrier: { traceparent?: string } = {}
  propagation.inject(active, carrier)
  return carrier.traceparent ?? null
}

/** Runs within the trace that `contextOf` kept. */
export function inContextOf<T>(carrier: Readonly<Record<string, string>>, run: () => T): T {
  return context.with(propagation.extract(context.active(), carrier), run)
}

let end: Promise<void> | undefined

/**
 * Resolves when the event loop has read all that had arrived. Messages that are sent after it leave together: one write of
 * this process, one read of the broker, and one batch for those who receive them.
 */
export function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined
      resolve()
    })
  })
  return end
}

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

/** The compiled form of a schema, made on its first use. */
function compile(schema: TSchema): TypeCheck<TSchema> {
  let check = compiled.get(schema)
  if (check === undefined) {
    check = TypeCompiler.Compile(countingCodePoints(schema))
    compiled.set(schema, check)
  }
  return check
}

const inputs = new WeakMap<Operation, TSchema>()

/**
 * Like `validate`, for what another service wrote. That service may be of the next release, so unknown fields are no
 * fault, or of the release before, whose texts and lists may be longer. Writers are strict and readers tolerant, or
 * services could not be rolled out in any order.
 */
export const validateAsReader = (schema: TSchema, value: unknown): ValidationDetails['issues'] | null =>
  validate(tolerant(schema), value)
const tolerant = variant((schema) => {
  withoutBounds(schema)
  if (schema.additionalProperties === false) delete schema.additionalProperties
  // `Clean` takes unknown fields away unless a schema allows them.
  if (schema.additionalProperties === true) schema.additionalProperties = Type.Unknown()
})

/**
 * What this release knows of a value that another service wrote: the fields that the schema names, at any depth. A
 * reader that copies it into a message of its own writes no field that its own table does not know.
 */
export function readMessage(
  schema: TSchema,
  value: unknown,
): { readonly known: unknown; readonly issues: null } | { readonly issues: ValidationDetails['issues'] } {
  // A writer of the same release writes nothing else.
  if (compile(schema).Check(value)) return { known: value, issues: null }
  const issues = validateAsReader(schema, value)
  return issues === null ? { known: Clean(tolerant(schema), structuredClone(value)), issues } : { issues }
}

/**
 * Like `validate`, for what this service wrote, which may have been long ago: what the release before stored may be
 * longer than what is written now. What is written now is bounded where it is stored (commands/record.ts).
 */
export const validateAsWritten = (schema: TSchema, value: unknown): ValidationDetails['issues'] | null =>
  validate(unbounded(schema), value)
const unbounded = variant(withoutBounds)

function withoutBounds(schema: Record<PropertyKey, unknown>): void {
  delete schema.maxLength
  delete schema.maxItems
}

/** Makes another form of each schema once: a copy in which each part is changed. */
function variant(change: (schema: Record<PropertyKey, unknown>) => void): (schema: TSchema) => TSchema {
  const known = new WeakMap<TSchema, TSchema>()
  const convert = (node: unknown, isSchema: boolean): unknown => {
    if (Array.isArray(node)) return node.map((part) => convert(part, true))
    if (typeof node !== 'object' || node === null) return node
    // Symbols are copied too: the compiler tells the kinds of schemas by them.
    const copy: Record<PropertyKey, unknown> = { ...node }
    // The names in `properties` are those of fields, whatever they are.
    for (const [key, value] of Object.entries(node)) copy[key] = convert(value, !isSchema || key !== 'properties')
    if (isSchema) change(copy)
    return copy
  }
  return (schema) => {
    const found = known.get(schema) ?? (convert(schema, true) as TSchema)
    known.set(schema, found)
    return found
  }
}

/** Params, query and body as the one object that a service sees. Nothing else may be in it. */
export function inputSchema(operation: Operation): TSchema {
  let schema = inputs.get(operation)
  if (schema === undefined) {
    const { params, query, body } = operation
    schema = Type.Object(
      { ...params.properties, ...query.properties, ...body.properties },
      { additionalProperties: false },
    )
    inputs.set(operation, schema)
  }
  return schema
}

const issuesMax = 50
/** Together, as JSON. They are part of a refusal, which is stored. */
const issuesBytesMax = 6_000

/**
 * The issues of a value against a schema, one per path and in words for people; null when it is valid. The first ones, if
 * they are many or long.
 */
export function validate(schema: TSchema, value: unknown): ValidationDetails['issues'] | null {
  const check = compile(schema)
  if (check.Check(value)) return null
  const byPath = new Map<string, { readonly path: string; readonly message: string }>()
  let bytes = 0
  for (const error of check.Errors(value)) {
    if (byPath.has(error.path)) continue
    const issue = { path: shownPath(error.path), message: message(error) }
    bytes += Buffer.byteLength(JSON.stringify(issue))
    if (byPath.size >= issuesMax || (bytes > issuesBytesMax && byPath.size > 0)) break
    byPath.set(error.path, issue)
  }
  return [...byPath.values()]
}

function message(error: ValueError): string {
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required'
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not a known field'
    case ValueErrorType.StringFormat:
      return (
        formats[error.schema.format]?.message ??
        lengthMessage(error.schema.format) ??
        `must be of format ${error.schema.format}`
      )
    case ValueErrorType.StringPattern:
      return (
        patternMessages[error.schema.pattern] ??
        formats[error.schema.format]?.message ??
        `must match ${error.schema.pattern}`
      )
    case ValueErrorType.Union:
      return unionMessage(error)
    default:
      return error.message.charAt(0).toLowerCase() + error.message.slice(1)
  }
}

function unionMessage(error: ValueError): string {
  const values = (error.schema.anyOf as TSchema[]).map((member) => member.const)
  return values.every((value) => value !== undefined)
    ? `must be one of ${values.join(', ')}`
    : 'has none of the allowed forms'
}

const lengthFormats = 'characters'

/**
 * The same schema, with the lengths of strings counted in code points, as JSON Schema does. The compiler counts UTF-16
 * units, of which 😀 has two, so it would refuse what the published documents allow. Formats take ASCII only, where both
 * counts agree.
 */
const countingCodePoints = variant((schema) => {
  const { type, format, minLength, maxLength } = schema
  if (type !== 'string' || format !== undefined || (minLength === undefined && maxLength === undefined)) return
  delete schema.minLength
  delete schema.maxLength
  schema.format = lengthFormat(Number(minLength ?? 0), Number(maxLength ?? Number.POSITIVE_INFINITY))
})

function lengthFormat(min: number, max: number): string {
  const name = `${lengthFormats}:${min}:${max}`
  if (!FormatRegistry.Has(name)) FormatRegistry.Set(name, (value) => hasLength(value, min, max))
  return name
}

function hasLength(value: string, min: number, max: number): boolean {
  // A code point is one unit or two: most strings need no counting.
  if (value.length < min || value.length > 2 * max) return false
  if (value.length >= 2 * min && value.length <= max) return true
  const length = [...value].length
  return length >= min && length <= max
}

/** What a caller reads when such a string is too short or too long; undefined for any other format. */
function lengthMessage(format: string): string | undefined {
  const [kind, min, max] = format.split(':')
  if (kind !== lengthFormats) return undefined
  if (max === 'Infinity') return `must have at least ${min} characters`
  return min === '0' ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`
}
