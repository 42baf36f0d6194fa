import {
  apiPrefix,
  audiences,
  bodyBytesMax,
  type ErrorCode,
  type ErrorEntry,
  errorAnchor,
  errorCatalogue,
  httpOperations,
  type Operation,
  type ProviderErrorCode,
  type PublicErrorCode,
  providerApiPrefix,
  providerBodyBytesMax,
  providerErrorCodes,
  providerErrors,
  providerOperations,
  publicErrorCodes,
} from '@backoffice/contracts'

/** What one kind of caller is told of an error. */
export interface ErrorWords {
  /** Status and message of a code, and what is said of it beside its details. */
  readonly entryOf: (code: ErrorCode) => Pick<ErrorEntry, 'status' | 'message'> & { readonly retry?: string }
  /** Whether this kind of caller may meet the code. Another one is a fault of ours. */
  readonly knows: (code: ErrorCode) => boolean
  /**
   * The header of each error that says where the documentation explains it (RFC 8288). It is relative: only the client knows
   * by which address it reaches us.
   */
  readonly helpLinks: Readonly<Record<string, string>>
}

const helpLinksTo = (prefix: string, codes: readonly (PublicErrorCode | ProviderErrorCode)[]) =>
  Object.fromEntries(codes.map((code) => [code, `<${prefix}/docs#${errorAnchor(code)}>; rel="help"`]))

export const wordsForOperators: ErrorWords = {
  entryOf: (code) => errorCatalogue[code],
  knows: () => true,
  helpLinks: helpLinksTo(apiPrefix, publicErrorCodes),
}

/** Their errors say whether the same request may get another answer. */
export const wordsForProviders: ErrorWords = {
  entryOf: (code) => providerErrors[code as ProviderErrorCode],
  knows: (code) => Object.hasOwn(providerErrors, code),
  helpLinks: helpLinksTo(providerApiPrefix, providerErrorCodes),
}

/** What is served to one kind of caller, on a listener of its own. */
export interface Surface {
  /** As metrics say it. */
  readonly name: 'operators' | 'providers'
  /** Of each path; a parameter in it is not an operation's. */
  readonly prefix: string
  readonly operations: readonly Operation[]
  readonly bodyBytesMax: number
  readonly words: ErrorWords
}

export const operatorSurface: Surface = {
  name: 'operators',
  prefix: apiPrefix,
  operations: httpOperations.filter(({ audience }) => audiences[audience].proof !== 'none'),
  bodyBytesMax,
  words: wordsForOperators,
}

export const providerSurface: Surface = {
  name: 'providers',
  prefix: `${providerApiPrefix}/{brandId}`,
  operations: providerOperations,
  bodyBytesMax: providerBodyBytesMax,
  words: wordsForProviders,
}
