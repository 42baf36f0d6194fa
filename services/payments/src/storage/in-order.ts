/** The records with these ids, in the order of the ids; undefined where there is none. */
export function inOrder<R extends { readonly id: string }>(
  ids: readonly string[],
  records: readonly R[],
): (R | undefined)[] {
  const byId = new Map(records.map((record) => [record.id, record]))
  return ids.map((id) => byId.get(id))
}
