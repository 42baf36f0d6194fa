/** SQL without its values: the ORM writes them into the statement, and they may be somebody's name. */
export function maskLiterals(sql: string): string {
  return sql.replaceAll(/'(?:[^']|'')*'/g, '?').replaceAll(/(?<![$\w.])\d+(?:\.\d+)?\b/g, '?')
}

/** A URL without what stands behind its path: operators put tokens there. */
export function withoutQuery(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}
