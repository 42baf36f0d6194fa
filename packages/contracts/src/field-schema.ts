/** As much of JSON Schema as what the team sends and reads uses. */
export interface FieldSchema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly description?: string
  readonly const?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly FieldSchema[]
  readonly items?: FieldSchema
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
}

export const takesNull = ({ anyOf = [] }: FieldSchema): boolean => anyOf.some(({ type }) => type === 'null')

/** The schema of what is there when it is not null. */
export function valueSchema(schema: FieldSchema): FieldSchema {
  if (!takesNull(schema)) return schema
  const [first = {}, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null')
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

/** The values of which a field takes one; none for a field that takes others. */
export const choicesOf = ({ anyOf = [] }: FieldSchema): readonly string[] =>
  anyOf.flatMap((choice) => choice.const ?? [])
