import { formatMessages, type Operation, patternMessages, type ValidationDetails } from '@backoffice/contracts'
import { type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { Clean } from '@sinclair/typebox/value'
import { countingCodePoints, lengthMessage } from './code-points.ts'

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

/** The compiled form of a schema, made on its first use. */
export function compile(schema: TSchema): TypeCheck<TSchema> {
  let check = compiled.get(schema)
  if (check === undefined) {
    check = TypeCompiler.Compile(countingCodePoints(schema))
    compiled.set(schema, check)
  }
  return check
}

const inputs = new WeakMap<Operation, TSchema>()

const tolerant = new WeakMap<TSchema, TSchema>()

/**
 * Like `validate`, for what another service wrote. That service may be of the next release, so unknown fields are no
 * fault. Writers are strict and readers tolerant, or services could not be rolled out in any order.
 */
export function validateAsReader(schema: TSchema, value: unknown): ValidationDetails['issues'] | null {
  return validate(opened(schema), value)
}

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
  return issues === null ? { known: Clean(opened(schema), structuredClone(value)), issues } : { issues }
}

function opened(schema: TSchema): TSchema {
  let open = tolerant.get(schema)
  if (open === undefined) {
    open = withoutClosing(schema) as TSchema
    tolerant.set(schema, open)
  }
  return open
}

function withoutClosing(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutClosing)
  if (typeof node !== 'object' || node === null) return node
  // Symbols are copied too: the compiler tells the kinds of schemas by them.
  const copy: Record<PropertyKey, unknown> = { ...node }
  for (const [key, value] of Object.entries(node)) copy[key] = withoutClosing(value)
  if (copy.additionalProperties === false) delete copy.additionalProperties
  // `Clean` takes unknown fields away unless a schema allows them.
  if (copy.additionalProperties === true) copy.additionalProperties = Type.Unknown()
  return copy
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

/** The issues of a value against a schema, one per path and in words for people; null when it is valid. */
export function validate(schema: TSchema, value: unknown): ValidationDetails['issues'] | null {
  const check = compile(schema)
  if (check.Check(value)) return null
  const byPath = new Map<string, string>()
  for (const error of check.Errors(value)) {
    if (!byPath.has(error.path)) byPath.set(error.path, message(error))
    if (byPath.size >= issuesMax) break
  }
  return [...byPath].map(([path, text]) => ({ path, message: text }))
}

function message(error: ValueError): string {
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required'
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not a known field'
    case ValueErrorType.StringFormat:
      return (
        formatMessages[error.schema.format] ??
        lengthMessage(error.schema.format) ??
        `must be of format ${error.schema.format}`
      )
    case ValueErrorType.StringPattern:
      return (
        patternMessages[error.schema.pattern] ??
        formatMessages[error.schema.format] ??
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
