import {
  choicesOf,
  type FieldSchema,
  type Operation,
  type Rejection,
  takesNull,
  type ValidationDetails,
  valueSchema,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { ReadField } from '../../assets/signing.js'

type GivenValues = Readonly<Record<string, string>>
type Input = Readonly<Record<string, unknown>>

/** A form for one operation. Its fields are those of the operation's body, except those that the page fixes. */
export interface Form {
  /** In its address. */
  readonly name: string
  readonly operation: Operation
  /** Fields whose value the page knows. */
  readonly fixed: Input
  /** The others that are shown; all when absent. */
  readonly only?: readonly string[]
  /** What is filled in at first: what holds now. */
  readonly initial?: GivenValues
  /** Fields that must be filled in here, although the operation does not ask for them. */
  readonly required?: readonly string[]
}

export interface FormField extends Pick<ReadField, 'name' | 'kind'> {
  readonly choices: readonly string[]
  readonly required: boolean
  readonly help: string
  readonly maxLength: number | undefined
  readonly value: string
  /** What is wrong with it. */
  readonly issue: string | undefined
}

/** Longer texts get several lines. */
const lineLengthMax = 256

/** Made when a form is shown, so that sending it twice has one effect. */
export const newOperationId = (): string => newId('opn')

export function fieldsOf(
  form: Form,
  given: GivenValues = form.initial ?? {},
  rejection?: Rejection,
): readonly FormField[] {
  const { required = [] } = form.operation.body as FieldSchema
  const issues = new Map(issuesOf(rejection).map(({ path, message }) => [path.slice(1).split('/')[0], message]))
  return shownFields(form).map(([name, schema]) => {
    const value = given[name] ?? ''
    return {
      name,
      ...kindOf(schema),
      required: (required.includes(name) && !takesNull(schema)) || form.required?.includes(name) === true,
      help: schema.description ?? '',
      maxLength: valueSchema(schema).maxLength,
      value,
      issue: issues.get(name),
    }
  })
}

/** How the browser makes the rest of the input of them. What is empty is left out, or null where the operation must be told. */
export const readFieldsOf = (form: Form): readonly ReadField[] =>
  shownFields(form).map(([name, schema]) => {
    const { required = [] } = form.operation.body as FieldSchema
    const { kind } = kindOf(schema)
    if (required.includes(name) && takesNull(schema)) return { name, kind, empty: null }
    // Somebody took all of them out.
    if (kind === 'list' && (form.initial?.[name] ?? '') !== '') return { name, kind, empty: [] }
    return { name, kind }
  })

/** The fields that the page wants and that are empty. The operation itself says what else is wrong. */
export const missingFields = (form: Form, input: Input): readonly string[] =>
  (form.required ?? []).filter((name) => input[name] === undefined)

const issuesOf = (rejection: Rejection | undefined): ValidationDetails['issues'] =>
  rejection?.code === 'VALIDATION_ERROR' ? ((rejection.details as ValidationDetails | undefined)?.issues ?? []) : []

function shownFields({ operation, fixed, only }: Form): readonly (readonly [string, FieldSchema])[] {
  const { properties = {} } = operation.body as FieldSchema
  return Object.entries(properties).filter(([name]) => !(name in fixed) && (only?.includes(name) ?? true))
}

function kindOf(schema: FieldSchema): Pick<FormField, 'kind' | 'choices'> {
  const value = valueSchema(schema)
  const { format, type, maxLength = 0 } = value
  const choices = choicesOf(value)
  if (choices.length > 0) return { kind: 'choice', choices }
  if (format === 'date-time') return { kind: 'time', choices }
  if (type === 'integer' || type === 'number') return { kind: 'number', choices }
  if (type === 'array') return { kind: 'list', choices }
  if (type === 'boolean') return { kind: 'yes', choices }
  return { kind: maxLength > lineLengthMax ? 'lines' : 'text', choices }
}
