import {
  amountPattern,
  choicesOf,
  type FieldSchema,
  type Operation,
  type Rejection,
  signedAmountPattern,
  takesNull,
  type ValidationDetails,
  valueSchema,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { ReadField } from '../../assets/signing.js'
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
  /** Sentences that a field may begin with, for people who would type them again and again. */
  readonly ready?: Readonly<Record<string, readonly string[]>>
  /** Fields that must be filled in here, although the operation does not ask for them. */
  readonly required?: readonly string[]
  /** Of fields whose emptiness would do something, which nobody reads out of an empty field. One of them is chosen. */
  readonly options?: Readonly<Record<string, readonly Option[]>>
  /** Of its amounts. */
  readonly currency?: string
}

/** A choice that says what it does. */
export interface Option {
  readonly name: string
  readonly label: string
  /** What the button says once it is chosen; what it always says when absent. */
  readonly button?: string
  /** What stands in the input. Absent: what is filled in beside it; its name is `given` then. */
  readonly value?: string | null | readonly string[]
}

type Kind = Exclude<ReadField['kind'], 'options'>

export interface FormField {
  readonly name: string
  readonly kind: ReadField['kind']
  readonly choices: readonly string[]
  readonly options: readonly Option[] | undefined
  /** What is filled in beside one of the options. */
  readonly of: FormField | undefined
  readonly required: boolean
  readonly help: string
  readonly maxLength: number | undefined
  readonly ready: readonly string[]
  readonly value: string
  /** Of an amount that may take money away, which is said beside the button. */
  readonly isSigned: boolean
  /** What is wrong with it. */
  readonly issue: string | undefined
}

/** Longer texts get several lines. */
const lineLengthMax = 256

/** Made when a form is shown, so that sending it twice has one effect. */
export const newOperationId = (): string => newId('opn')

export function fieldsOf(
  form: Form,
  display: Display,
  given: GivenValues = form.initial ?? {},
  rejection?: Rejection,
): readonly FormField[] {
  const issues = new Map(issuesOf(rejection).map(({ path, message }) => [fieldIn(path), message]))
  return shownFields(form).map(([name, schema]) => {
    const message = issues.get(name)
    const field = (called: string) => ({
      ...{ name: called, ...kindOf(schema) },
      required: isRequired(form, name),
      help: display.sentence(schema.description ?? ''),
      maxLength: valueSchema(schema).maxLength,
      ready: form.ready?.[called] ?? [],
      value: given[called] ?? '',
      isSigned: valueSchema(schema).pattern === signedAmountPattern,
      issue: message && issueText(display, name, schema, message),
    })
    const options = form.options?.[name]
    const alone = { ...field(name), options: undefined, of: undefined }
    if (options === undefined) return alone
    const isGiven = options.some((option) => option.value === undefined)
    const beside = isGiven ? { ...alone, ...field(`${name}Given`), required: false, issue: undefined } : undefined
    return { ...alone, kind: 'options', options, of: beside, help: '' }
  })
}

/** How the browser makes the rest of the input of them. */
export const readFieldsOf = (form: Form): readonly ReadField[] =>
  shownFields(form).map(([name, schema]) => {
    const { kind } = kindOf(schema)
    const options = form.options?.[name]
    if (options === undefined) {
      if (takesNull(schema) || kind === 'list')
        throw new Error(`${name}: what it does when it is empty must be a choice`)
      return { name, kind }
    }
    const fixed = options.flatMap(({ name: option, value }) => (value === undefined ? [] : [{ name: option, value }]))
    return { name, kind: 'options', options: fixed, ...(fixed.length < options.length ? { of: { kind } } : {}) }
  })

/** The fields that must be filled in and are empty. The operation itself says what else is wrong. */
export const missingFields = (form: Form, input: Input): readonly string[] =>
  shownFields(form).flatMap(([name]) => (isRequired(form, name) && input[name] === undefined ? [name] : []))

const isRequired = (form: Form, name: string): boolean => {
  const { required = [] } = form.operation.body as FieldSchema
  return [...required, ...(form.required ?? []), ...Object.keys(form.options ?? {})].includes(name)
}

export const namesIn = (form: Form): readonly string[] => shownFields(form).map(([name]) => name)

export const issuesOf = (rejection: Rejection | undefined): ValidationDetails['issues'] =>
  rejection?.code === 'VALIDATION_ERROR' ? ((rejection.details as ValidationDetails | undefined)?.issues ?? []) : []

export const fieldIn = (path: string): string => path.slice(1).split('/')[0] ?? ''

function shownFields({ operation, fixed, only }: Form): readonly (readonly [string, FieldSchema])[] {
  const { properties = {} } = operation.body as FieldSchema
  return Object.entries(properties).filter(([name]) => !(name in fixed) && (only?.includes(name) ?? true))
}

function kindOf(schema: FieldSchema): { readonly kind: Kind; readonly choices: readonly string[] } {
  const value = valueSchema(schema)
  const { format, pattern, type, maxLength = 0 } = value
  const choices = choicesOf(value)
  if (choices.length > 0) return { kind: 'choice', choices }
  if (format === 'date-time') return { kind: 'time', choices }
  if (pattern === amountPattern || pattern === signedAmountPattern) return { kind: 'amount', choices }
  if (type === 'integer' || type === 'number') return { kind: 'number', choices }
  if (type === 'array') return { kind: 'list', choices }
  if (type === 'boolean') return { kind: 'yes', choices }
  return { kind: maxLength > lineLengthMax ? 'lines' : 'text', choices }
}

/** What a field wants, in the words of the page: never those in which a validator speaks to programs. */
function issueText(display: Display, name: string, schema: FieldSchema, message: string): string {
  const { kind } = kindOf(schema)
  const { format = '', pattern, maxLength = '', minimum = '', maximum = '' } = valueSchema(schema)
  const isMissing = message === 'is required'
  const missing = kind === 'choice' || takesNull(schema) || kind === 'list' ? 'rule.choice' : 'rule.required'
  const ofKind = pattern === amountPattern ? 'rule.amountOverZero' : `rule.${kind}`
  const names = isMissing ? [missing] : [`issue.${message}`, `rule.${name}`, `rule.${format}`, ofKind, 'rule.text']
  return display.first(names, { maxLength, minimum, maximum })
}
