/** A call of the team as a form shows it, and how the fields become the rest of its input. */
export interface ShownCall {
  /** The name of the form. */
  readonly form: string
  /** The service and the operation. */
  readonly operation: string
  /** What the page has fixed. */
  readonly input: Readonly<Record<string, unknown>>
  /** The proposal of somebody else that it carries out. */
  readonly approves?: string
  /** The reply is sealed to a key that the browser makes. */
  readonly isSealed: boolean
  readonly fields: readonly ReadField[]
  /** Of the times that are filled in. */
  readonly timeZone: string
  /** Of the amounts. */
  readonly language: string
}

export interface ReadField {
  readonly name: string
  readonly kind: 'text' | 'lines' | 'list' | 'number' | 'amount' | 'choice' | 'yes' | 'time' | 'options'
  /** Choices that name what they do, each with what stands in the input for it. */
  readonly options?: readonly { readonly name: string; readonly value: string | readonly string[] | null }[]
  /** One more of them: what is filled in beside it, under the field's name and `Given`. */
  readonly of?: Pick<ReadField, 'kind'>
}

export interface BrowserKey {
  readonly privateKey: CryptoKey
  readonly publicJwk: { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
  readonly thumbprint: string
}

type Given = Readonly<Record<string, string>>
interface Call extends Pick<ShownCall, 'operation' | 'input' | 'approves'> {
  readonly operationId: string
  readonly sealTo?: BrowserKey['publicJwk'] | undefined
}

export function canonical(value: unknown): string
export function fileDigest(bytes: BufferSource): Promise<string>
export function digestOf(value: unknown): Promise<string>
export function newKey(): Promise<BrowserKey>
export function newReplyKey(): Promise<{ readonly sealTo: BrowserKey['publicJwk']; readonly opener: JsonWebKey }>
export function signCall(
  call: Call,
  when: { readonly aud: string; readonly iat: number },
  key: BrowserKey,
): Promise<string>
export function signDelegation(
  claims: { readonly aud: string; readonly delegate: string; readonly iat: number; readonly exp: number },
  key: BrowserKey,
): Promise<string>
export function inputOf(shown: ShownCall, given: Given): Readonly<Record<string, unknown>>
export function unreadOf(shown: ShownCall, given: Given): readonly string[]
export function amountOf(text: string, language: string): string | undefined
export function isoOf(local: string, timeZone: string): string | undefined
