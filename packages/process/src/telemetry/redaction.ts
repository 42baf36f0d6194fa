/** SQL without its values. The ORM writes values into the statement, and they may be a person's name. */
export function maskLiterals(sql: string): string {
  return sql.replaceAll(/'(?:[^']|'')*'/g, '?').replaceAll(/(?<![$\w.])\d+(?:\.\d+)?\b/g, '?')
}

/** A URL without its query: operators put tokens there. */
export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}
