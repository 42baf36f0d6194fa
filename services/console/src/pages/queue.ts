/** How many rows a page of a list has. */
export const rowsOnPage = 50

/** Where a page of a list begins; nothing for the first one. */
export const afterOf = (cursor: string | undefined): { readonly after?: string } =>
  cursor === undefined ? {} : { after: cursor }
export const beforeOf = (cursor: string | undefined): { readonly before?: string } =>
  cursor === undefined ? {} : { before: cursor }
