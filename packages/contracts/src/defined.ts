type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

/** The fields that have a value. What was not given is absent from a message, not undefined in it. */
export function defined<T extends object>(
  fields: T,
): Omit<T, Optional<T>> & { [K in Optional<T>]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
