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
import type { Display } from './cells.ts'

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

export interface FormField {
  readonly name: string
  readonly kind: 'text' | 'lines' | 'list' | 'number' | 'choice' | 'yes' | 'time'
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

/** What was filled in, as the operation takes it. What is empty is left out, or null where the operation must be told. */
export function inputOf(form: Form, given: GivenValues, display: Pick<Display, 'isoOf'>): Input {
  const values = shownFields(form).flatMap(([name, schema]): readonly (readonly [string, unknown])[] => {
    const value = given[name]?.trim() ?? ''
    if (value === '') return emptyOf(form, name, schema)
    return [[name, parsed(kindOf(schema).kind, value, display)]]
  })
  return { ...Object.fromEntries(values), ...form.fixed }
}

function emptyOf(
  { operation, initial }: Form,
  name: string,
  schema: FieldSchema,
): readonly (readonly [string, unknown])[] {
  const { required = [] } = operation.body as FieldSchema
  if (required.includes(name) && takesNull(schema)) return [[name, null]]
  // Somebody took all of them out.
  if (kindOf(schema).kind === 'list' && (initial?.[name] ?? '') !== '') return [[name, []]]
  return []
}

function parsed(kind: FormField['kind'], value: string, { isoOf }: Pick<Display, 'isoOf'>): unknown {
  if (kind === 'number') return Number(value)
  if (kind === 'yes') return value === 'yes'
  // A time that cannot be read goes as it is, and the operation says what is wrong with it.
  if (kind === 'time') return isoOf(value) ?? value
  if (kind === 'list') return value.split(/[\s,]+/).filter((item) => item !== '')
  return value.replaceAll('\r\n', '\n')
}

/** The fields that the page wants and that are empty. The operation itself says what else is wrong. */
export const missingFields = (form: Form, given: GivenValues): readonly string[] =>
  (form.required ?? []).filter((name) => (given[name]?.trim() ?? '') === '')

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
