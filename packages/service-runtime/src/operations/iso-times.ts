/** A record as replies show it. */
export type WithIsoTimes<R> = {
  [Field in keyof R]: R[Field] extends Date ? string : R[Field] extends Date | null ? string | null : R[Field]
}

/** Writes the times of a record in ISO 8601, as replies have them; all else stays as it is. */
export function withIsoTimes<R extends object>(record: R): WithIsoTimes<R> {
  const fields = Object.entries(record).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ])
  return Object.fromEntries(fields)
}

/** What is shown, as it is stored: the named fields are times. */
export type WithTimes<Shown, Times extends keyof Shown> = Readonly<
  Omit<Shown, Times> & { [Field in Times]: Date | Extract<Shown[Field], null> }
>
