type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

/** The fields that have a value. A value that was not given is absent from a message, not undefined. */
export function defined<T extends object>(
  fields: T,
): Omit<T, Optional<T>> & { [K in Optional<T>]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
